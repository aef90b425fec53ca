#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The tests of the tests: plants bugs in a copy of tls/ one at a time; each must make test_pool,
# test_tickets or test_attach fail.  TAP.  A random quarter of them, by the seed SEED; ALL=1: all.  That
# each still has its place is looked at in any case.  Needs CC, CPPFLAGS, LDLIBS, B, OBJ and the functions that
# these wrap, POOL_WRAP, TICKETS_WRAP and ATTACH_WRAP, from make.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
count=0 failed=0 bugs=0 drawn=0
seed=${SEED:-$((RANDOM * 32768 + RANDOM))}
RANDOM=$((seed % 32768))
flags="$CPPFLAGS -Iopt -I$dir -Itls -std=c11 -O1 -w"

# 0: all suites pass; 1: one fails, or hangs; 2: it does not compile.  The suite $1 goes first.
suites_pass() {
  local wrap t
  for t in "$1" $(printf '%s\n' attach pool tickets | grep -vx "$1"); do
    case $t in
      attach) wrap=$ATTACH_WRAP ;;
      pool) wrap=$POOL_WRAP ;;
      tickets) wrap=$TICKETS_WRAP ;;
    esac
    # shellcheck disable=SC2086
    wrap=$(printf ' -Wl,--wrap=%s' $wrap)
    echo "test_$t does not compile" > "$dir/ended"
    # shellcheck disable=SC2086
    $CC $flags $wrap -o "$dir/t" "$B/tls/test_$t.o" "$B/tls/loop.o" "$dir/handle.c" "$dir/pool.c" "$dir/backend.c" "$dir/tickets.c" "$dir/attach.c" \
      $OBJ -lssl $LDLIBS > "$dir/cc" 2>&1 || { sed 's/^/# /' "$dir/cc" | head -5; return 2; }
    # a loop ends by its processor time, whatever else the machine does; who waits for ever by the clock
    { SEED=1 STOP=1 timeout 200 prlimit --cpu=30 "$dir/t" > "$dir/out"; } 2>/dev/null || {
      echo "test_$t ended with $?" > "$dir/ended"
      return 1
    }
  done
  return 0
}

report() {
  count=$((count + 1))
  if [ "$1" = 1 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; failed=1; fi
}

# plant NAME FILE FROM TO: replaces the one occurrence of FROM
plant() {
  cp tls/handle.c tls/pool.c tls/backend.c tls/tickets.c tls/attach.c "$dir"
  if ! FROM=$3 TO=$4 perl -0pi -e '$n = s/\Q$ENV{FROM}\E/$ENV{TO}/; END { exit !$n }' "$dir/$2"; then
    report 0 "$1: the place of the bug is not found"
    return
  fi
  bugs=$((bugs + 1))
  [ -n "${ALL:-}" ] || [ $((RANDOM % 4)) = 0 ] || return
  drawn=$((drawn + 1))
  local first=${2%.c}
  [ -e "$B/tls/test_$first.o" ] || first=pool
  suites_pass "$first"
  [ $? = 1 ] && report 1 "$1" || report 0 "$1 goes unnoticed"
}

cp tls/handle.c tls/pool.c tls/backend.c tls/tickets.c tls/attach.c "$dir"
if suites_pass pool; then
  report 1 "without a bug the tests pass"
else
  report 0 "without a bug the tests fail"
  echo "# $(cat "$dir/ended"); the last lines of its output:"
  [ ! -e "$dir/out" ] || tail -n 20 "$dir/out" | sed 's/^/#   /'
fi
plant memory_with_descriptor_0_can_shrink pool.c 'if (fd >= 0 && (ftruncate' 'if (fd > 0 && (ftruncate'
plant memory_under_a_standard_number pool.c 'return above_standard(fd);' 'return fd;'
plant rotated_again_by_who_was_overtaken pool.c 'since(s, t->opened) < h->rotation' 's->now - t->opened < h->rotation'
plant early_data_without_puncture attach.c 'return redeem(ssl, 1);' 'return 1;'
plant early_data_although_puncture_failed attach.c 'return err == PPRF_OK;
}' 'return err != PPRF_ERR_PUNCTURED;
}'
plant puncture_when_offered attach.c 'c->decrypting = ticket;' \
  'c->decrypting = ticket; (void)c->tickets->backend->redeem(c->tickets->keys, 0, ticket, 0);'
plant dtls_taken_for_tls_1_3 attach.c ' && !SSL_is_dtls(ssl)' ''
plant ticket_tied_to_the_connection attach.c 'return SSL_get_session(ssl) == c->session ||' 'return 1 ||'
plant ticket_not_tied_to_its_session attach.c \
  'c->ticket = ticket;' 'c->ticket = 0;'
plant programs_ticket_callback_dropped attach.c 'if (c != NULL && c->decrypted != NULL)' 'if (0)'
plant programs_wish_of_a_successor attach.c 'wanted = SSL_TICKET_RETURN_USE; /*' '; /*'
plant session_not_held attach.c 'SSL_SESSION_up_ref(session) == 1' '1'
plant tls_1_2_tickets_cannot_be_switched_off attach.c '&& c->tickets->options.no_tls_1_2' '&& 0'
plant resumption_secret_not_found attach.c 'kept |= at == 0;' 'kept |= 1;'
plant overwritten_where_nothing_was_found attach.c '    if (at != 0) {
      /* no client' '    if (size != 0) {
      /* no client'
plant session_secret_kept attach.c '(void)SSL_SESSION_set1_master_key(SSL_get_session(ssl), unknown, size);' ';'
plant ticket_of_a_forgotten_secret attach.c 'int good = !c->forgotten &&' 'int good ='
plant early_secret_not_found attach.c 'c->early_secret = at;' 'c->early_secret = 0;'
plant more_is_copied_than_there_is attach.c 'old < n ? old : n' 'old < n ? n : old'
plant a_moved_block_is_not_wiped attach.c '    wiping_free(p, file, line);
  }
  return q;' '    free(p);
  }
  return q;'
plant freed_twice attach.c '  *ptr = NULL;' ';'
plant resumption_does_not_puncture attach.c '(void)redeem(ssl, 0);
      if' 'if'
plant tls_1_2_does_not_puncture attach.c '(void)redeem(ssl, 0);
  }' ';
  }'
plant tls_1_2_punctures_at_server_hello attach.c '(where & SSL_CB_HANDSHAKE_DONE) != 0' \
  'SSL_get_state(ssl) == TLS_ST_SW_SRVR_HELLO'
plant empty_ticket_in_tls_1_3 attach.c '&& spoil(name, iv, cipher, mac)' '&& 0'
plant pool_of_the_sni_context attach.c 'struct attachment *a = attachment_of(ssl);
  if (c != NULL' 'struct attachment *a = attachment_of(ssl); if (c != NULL && a != NULL) c->tickets = a->tickets; if (c != NULL'
plant one_key_for_both tickets.c 'store_seed(keys->mac, child.right);' 'store_seed(keys->mac, child.left);'
plant keys_left_on_the_stack tickets.c 'prg_wipe(prg_wipe_plan(EVAL_STACK));' ';'
plant key_without_padding tickets.c 'block[i] ^= pad;' ';'
plant extracted_without_padding tickets.c 'memset(block, pad[i], sizeof block);' 'memset(block, 0, sizeof block);'
plant keys_of_the_bare_suite tickets.c 'prg_expand(origin->family, load_seed(value), origin->leaf, 0)' \
  'prg_expand(PRG_BARE, load_seed(value), 0, 1)'
plant leaves_share_an_id tickets.c 'load_seed(value), origin->leaf, 0)' 'load_seed(value), 0, 0)'
plant a_leaf_has_an_inner_nodes_id tickets.c 'load_seed(value), origin->leaf, 0)' 'load_seed(value), origin->leaf, 1)'
plant the_expected_mac_stays_on_the_stack tickets.c 'OPENSSL_cleanse(mac, sizeof mac);' ';'
plant aes_without_its_instructions_by_default tickets.c 'strcmp(aes, "aes-armv8") == 0;' 'strcmp(aes, "aes-evp") != 0;'
plant aes_is_never_the_default tickets.c '? PPRF_AES_128' '? PPRF_SHA3_256_SALTED'
plant the_thesis_suite_by_default tickets.c ': PPRF_SHA3_256_SALTED;' ': PPRF_SHA3_256;'
plant the_suite_that_is_named_is_not_taken tickets.c 'o->suite != 0 ? (unsigned)o->suite : default_suite()' 'default_suite()'
plant unknown_suites_are_taken tickets.c 'if (o->suite != 0 && !pool_has_suite(o->suite))' \
  'if (o->suite != 0 && !pool_has_suite((unsigned)o->suite))'
plant suites_of_32_bytes_are_taken pool.c '(PPRF_SUITES_16_BYTES >> suite & 1) != 0 &&' ''
plant names_of_suites_by_their_beginning tickets.c 'strcmp(name, pprf_suite_name(suite)) == 0)' \
  'strncmp(name, pprf_suite_name(suite), strlen(pprf_suite_name(suite))) == 0)'
plant a_child_keeps_the_pools_locked pool.c $'  }\n  after_fork();' '  }'
plant another_suite_is_imported pool.c '(suite != 0 && h.suite != suite)' '0'
plant a_named_suite_over_the_pools pool.c 'attach(pool, own, depth, keys, (unsigned)h.suite)' \
  'attach(pool, own, depth, keys, suite)'
plant unknown_suites_are_imported pool.c 'if (!pool_has_suite(h.suite))' 'if (0)'
plant half_of_the_suite_is_looked_at pool.c 'if (!pool_has_suite(h.suite))' \
  'if (!pool_has_suite((unsigned)h.suite))'
plant the_suite_is_not_told pool.c 'h->suite = suite;' ';'
plant the_salt_stays_in_its_process handle.c 'key->family = family;' 'if (key->family.suite == 0) key->family = family;'
plant no_salt pool.c '? prg_random(&salt) : PPRF_OK;' '? PPRF_OK : PPRF_OK;'
plant half_a_salt pool.c 't->salt_hi = salt.hi;' ';'
plant a_salt_for_the_first_tree_only pool.c 'reset(t);
  t->salt_lo = salt.lo;
  t->salt_hi = salt.hi;' 'static struct pprf_seed first; if (first.lo == 0) first = salt; reset(t);
  t->salt_lo = first.lo;
  t->salt_hi = first.hi;'
plant a_salt_that_was_not_drawn pool.c '  if (err != PPRF_OK)
    return err;
  reset(t);' '  reset(t);'
plant the_layout_before_suites pool.c '((uint64_t)4 << 56' '((uint64_t)3 << 56'
plant iv_is_not_the_name tickets.c 'memcpy(out + IV_AT, out, NAME_BYTES);' 'memset(out + IV_AT, 0, 16);'
plant one_name_at_a_time pool.c 'kept ? p->name_ctx[encrypt] : new_name_ctx(p, encrypt)' 'kept ? p->name_ctx[encrypt] : NULL'
plant a_name_in_use_for_ever pool.c 'atomic_store(&p->naming, 0);' ';'
plant the_key_of_names_is_left pool.c '  EVP_CIPHER_CTX_free(p->name_ctx[1]);
' ''
plant mac_key_not_set tickets.c 'return EVP_MAC_CTX_set_params(mac, params) == 1 &&' 'return'
plant unknown_names_are_accepted pool.c 'memcmp(plain + 8, zero, sizeof zero) == 0' '1'
plant owner_died_is_ignored pool.c 'if (changing < p->keys) { /* its owner' 'if (0) { /* its owner'
plant changes_are_not_announced pool.c \
  'atomic_store(&s->shard->changing, (unsigned)(t - s->shard->tree));' ';'
plant inconsistent_lock pool.c 'rc = pthread_mutex_consistent(&s->shard->lock);' 'rc = 0;'
plant private_lock pool.c 'pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) == 0' '1'
plant time_goes_back pool.c 'return latest;' 'return now;'
plant a_leaf_given_out_twice pool.c 't->next++;' 't->next += t->next % 7 != 6;'
plant expiry_one_second_late pool.c 'segment_of(t, leaf)->last + s->pool->h->lifetime > s->now' \
  'segment_of(t, leaf)->last + s->pool->h->lifetime >= s->now'
plant expiry_leaves_the_last_leaf pool.c 'first->begin, last - 1)' \
  'first->begin, last - 1 > first->begin ? last - 2 : last - 1)'
plant issuing_does_not_expire pool.c '(void)expire_all(&s);
  err = s.shard->closed' 'err = s.shard->closed'
plant idle_shards_never_expire pool.c '(void)each_shard(p, now, expire_all);' ';'
plant a_key_less_than_the_memory_holds pool.c 'if (p->tree[i].id == 0)
      return' 'if (p->tree[i].id == 0 && i + 1 < s->pool->keys)
      return'
plant more_keys_than_the_memory_holds pool.c 'mapping_bytes(depth, keys) > memory' 'mapping_bytes(depth, keys - 1) > memory'
plant expiry_in_one_piece pool.c 'if (last - first->begin > s->slice)' 'if (0)'
plant a_slice_for_each_segment pool.c 's->slice -= last - first->begin;' ';'
plant the_first_slice_only pool.c 'while (e == PPRF_OK && s.slice == 0)' 'while (0)'
plant expired_counts_as_dropped pool.c 'if (is_over(s, segment_at(oldest, oldest->segments - 1)))' 'if (0)'
plant newest_tree_given_up pool.c 'p->last_id - p->tree[i].id > p->last_id - oldest->id' \
  'p->tree[i].id > oldest->id'
plant redeemed_stays_outstanding pool.c 'segment_of(t, leaf)->outstanding--;' ';'
plant freed_pool_goes_on pool.c 's->shard->closed = 1;' ';'
plant shards_share_their_numbers pool.c 'shard << s->pool->tree_depth | leaf' 'leaf'
plant nodes_are_not_carried_over pool.c 'handle_set_nodes(key_of(s, t), t->nodes);' ';'
plant one_shard_is_not_revoked pool.c 'return each_shard(p, tell(p, now), clear_all);' \
  'p->shards--; int err = each_shard(p, tell(p, now), clear_all); p->shards++; return err;'
plant rotation_goes_on_with_the_tree pool.c 'return each_shard(p, tell(p, now), retire);' \
  'return each_shard(p, tell(p, now), expire_all);'
plant handed_over_and_wiped pool.c 'atomic_store(&p->h->maker, 0);' ';'
plant another_layout_is_mapped pool.c 'h.layout != LAYOUT ||' ''
plant anothers_descriptor_is_closed pool.c ' && st.st_dev == p->dev && st.st_ino == p->ino' ''
plant memory_that_shrinks pool.c '(seals & need) != need ||' ''
plant tickets_not_held attach.c 'ticket_hold(tickets);' ';'
plant a_connection_does_not_hold_them attach.c 'ticket_hold(c->tickets);' ';'
plant detached_and_still_called attach.c '(void)SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, NULL);' ';'
plant settings_not_given_back attach.c 'int good = set(ctx, &a->before);' 'int good = 1;'
plant early_data_of_the_options attach.c 'struct settings s = {max_early_data, max_early_data > skipped' \
  'struct settings s = {skipped, max_early_data > skipped'
plant mac_is_not_compared tickets.c 'CRYPTO_memcmp(mac, in + in_len - MAC_BYTES, MAC_BYTES) == 0' '1'
plant half_of_the_mac_is_compared tickets.c 'in + in_len - MAC_BYTES, MAC_BYTES) == 0' \
  'in + in_len - MAC_BYTES, MAC_BYTES / 2) == 0'
plant mac_without_the_name tickets.c 'EVP_MAC_update(e->mac, in, len) == 1' \
  'EVP_MAC_update(e->mac, in + 16, len - 16) == 1'
plant opening_redeems tickets.c '*ticket = found;' \
  '*ticket = found, tickets->backend->redeem(tickets->keys, 0, found, 0);'
plant content_beside_an_error tickets.c 'OPENSSL_cleanse(out, need);
      tickets' ';
      tickets'
plant ticket_half_made tickets.c 'OPENSSL_cleanse(out, need);
    tickets' ';
    tickets'
plant one_byte_too_many tickets.c 'len <= PPRF_TICKET_CONTENT_MAX + PPRF_TICKET_OVERHEAD;' '1;'
plant statistics_beyond_the_callers tickets.c 'memcpy(stats, &s, size < sizeof s ? size : sizeof s);' \
  'memcpy(stats, &s, sizeof s); ((uint64_t *)stats)[sizeof s / 8] = 0;'
plant unknown_options_are_ignored tickets.c 'if (((const uint8_t *)from)[i] != 0)' 'if (0)'
echo "# SEED=$seed: $drawn of $bugs bugs; ALL=1: all"
echo "1..$count"
exit $failed
