/* SPDX-License-Identifier: Apache-2.0 */
/* Control of `prove.py --smoke`: it must find the contradiction in every function except the
 * first. */

/*@ requires x > 0;
    assigns \nothing;
    ensures \result == x || \result == 1; */
int sound(int x)
{
  /*@ loop invariant 1 <= k <= x;
      loop assigns k;
      loop variant x - k; */
  for (int k = 1; k < x; k++)
    if (k == 7)
      return 1;
  return x;
}

/*@ requires small: x < 2;
    requires large: \forall integer k; 0 <= k < 3 ==> k < x;
    assigns \nothing;
    ensures \result == 5; */
int bad_requires(int x)
{
  return x;
}

/*@ assigns \nothing;
    ensures zero: \result == 0;
    ensures one: \result * \result == 1; */
int impossible(void);

/*@ assigns \nothing;
    ensures \result == 5; */
int bad_callee(int x)
{
  if (impossible() == x)
    return 3;
  return 4;
}

/*@ assigns \nothing;
    ensures \result == 5; */
int bad_invariant(int n)
{
  int i = 0;
  /*@ loop invariant i < 0;
      loop assigns i; */
  while (i < n)
    i++;
  return i;
}
