/* SPDX-License-Identifier: Apache-2.0 */
/* The part of Valkey's and Redis's module interface that this module uses.  Both servers provide it
 * by name through one function, whose address is the first word of OnLoad's context, so one file
 * serves Valkey and Redis 7.0 or later. */
#ifndef VALKEY_SERVER_API_H
#define VALKEY_SERVER_API_H

#include <stddef.h>
#include <stdint.h>

enum {
  SERVER_OK = 0,
  SERVER_ERR = 1,
  SERVER_READ = 1,
  SERVER_WRITE = 2,
  SERVER_KEY_EMPTY = 0,
  SERVER_IS_PRIMARY = 4, /* of context_flags */
  SERVER_API_VERSION = 1
};

#define SERVER_WRONG_TYPE "WRONGTYPE Operation against a key holding the wrong kind of value"

typedef struct server_ctx server_ctx;   /* a call */
typedef struct server_str server_str;   /* an argument */
typedef struct server_key server_key;   /* an open key */
typedef struct server_io server_io;     /* a dump being written or read */
typedef struct server_type server_type; /* a data type */
typedef struct server_dict server_dict;
typedef struct server_info_ctx server_info_ctx;
typedef struct server_info_data server_info_data;
typedef struct server_command server_command;

typedef int server_run(server_ctx *, server_str **argument, int n);

/* Version 1 of the type's functions. */
struct server_type_methods {
  uint64_t version;
  void *(*load)(server_io *, int version);
  void (*save)(server_io *, void *value);
  void (*rewrite)(server_io *, server_str *key, void *value);
  size_t (*memory)(const void *value);
  void (*digest)(void *, void *);
  void (*free)(void *value);
};

struct server_event {
  uint64_t id, version;
};
#define SERVER_CLIENT_CHANGE ((struct server_event){4, 1})
#define SERVER_CRON_LOOP ((struct server_event){8, 1})
#define SERVER_CLIENT_DISCONNECTED 1 /* the sub-event */
typedef void server_on_event(server_ctx *, struct server_event, uint64_t sub, void *data);

struct server_client {
  uint64_t version, flags, id;
};

struct server_info_version {
  int version;
  size_t history_bytes, key_spec_bytes, argument_bytes;
};
struct server_command_info {
  const struct server_info_version *version;
  const char *summary, *complexity, *since;
  void *history;
  const char *tips;
  int arity; /* with the command's name; -n: n at least */
  void *key_specs, *arguments;
};

/* result, name, parameters */
#define SERVER_FUNCTIONS(F)                                                                \
  F(void, SetModuleAttribs, (server_ctx *, const char *name, int version, int api))        \
  F(int, IsModuleNameBusy, (const char *name))                                             \
  F(int, CreateCommand,                                                                    \
    (server_ctx *, const char *name, server_run *, const char *flags, int first, int last, \
     int step))                                                                            \
  F(server_command *, GetCommand, (server_ctx *, const char *name))                        \
  F(int, SetCommandInfo, (server_command *, const struct server_command_info *))           \
  F(server_type *, CreateDataType,                                                         \
    (server_ctx *, const char *name, int version, struct server_type_methods *))           \
  F(void, AutoMemory, (server_ctx *))                                                      \
  F(server_key *, OpenKey, (server_ctx *, server_str * name, int mode))                    \
  F(int, KeyType, (server_key *))                                                          \
  F(server_type *, ModuleTypeGetType, (server_key *))                                      \
  F(void *, ModuleTypeGetValue, (server_key *))                                            \
  F(int, ModuleTypeSetValue, (server_key *, server_type *, void *value))                   \
  F(const char *, StringPtrLen, (const server_str *, size_t *len))                         \
  F(int, StringToLongLong, (const server_str *, long long *))                              \
  F(int, WrongArity, (server_ctx *))                                                       \
  F(int, ReplyWithError, (server_ctx *, const char *))                                     \
  F(int, ReplyWithNull, (server_ctx *))                                                    \
  F(int, ReplyWithLongLong, (server_ctx *, long long))                                     \
  F(int, ReplyWithSimpleString, (server_ctx *, const char *))                              \
  F(int, ReplyWithStringBuffer, (server_ctx *, const char *, size_t len))                  \
  F(int, ReplyWithArray, (server_ctx *, long n))                                           \
  F(void, SaveUnsigned, (server_io *, uint64_t))                                           \
  F(uint64_t, LoadUnsigned, (server_io *))                                                 \
  F(int, IsIOError, (server_io *))                                                         \
  F(void, SetModuleOptions, (server_ctx *, int options))                                   \
  F(unsigned long long, GetClientId, (server_ctx *))                                       \
  F(int, GetContextFlags, (server_ctx *))                                                  \
  F(int, SubscribeToServerEvent, (server_ctx *, struct server_event, server_on_event *))   \
  F(int, RegisterInfoFunc, (server_ctx *, void (*)(server_info_ctx *, int crash)))         \
  F(int, InfoAddSection, (server_info_ctx *, const char *name))                            \
  F(int, InfoAddFieldULongLong, (server_info_ctx *, const char *name, unsigned long long)) \
  F(server_info_data *, GetServerInfo, (server_ctx *, const char *section))                \
  F(const char *, ServerInfoGetFieldC, (server_info_data *, const char *name))             \
  F(void, FreeServerInfo, (server_ctx *, server_info_data *))                              \
  F(void, LatencyAddSample, (const char *event, long long ms))                             \
  F(server_dict *, CreateDict, (server_ctx *))                                             \
  F(int, DictReplaceC, (server_dict *, void *key, size_t len, void *value))                \
  F(void *, DictGetC, (server_dict *, void *key, size_t len, int *missing))                \
  F(int, DictDelC, (server_dict *, void *key, size_t len, void *old))                      \
  F(void, Log, (server_ctx *, const char *level, const char *format, ...))

/* Functions of later servers; NULL if missing. */
#define SERVER_LATER_FUNCTIONS(F)                          \
  F(int, AddACLCategory, (server_ctx *, const char *name)) \
  F(int, SetCommandACLCategories, (server_command *, const char *names))

#define SERVER_MEMBER(result, name, parameters) result(*name) parameters;
struct server {
  SERVER_FUNCTIONS(SERVER_MEMBER)
  SERVER_LATER_FUNCTIONS(SERVER_MEMBER)
};
#undef SERVER_MEMBER

#endif
