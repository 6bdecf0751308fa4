#pragma once
// The caller's names, found by hash, since they are looked up for every element and attribute.

#include <stdbool.h>
#include <stdint.h>

enum { maximumNames = 64, nameSlots = 256 };

typedef struct {
    char *text;
    const char *names[maximumNames];
    int32_t lengths[maximumNames];
    int32_t count;
    /// Index into `names` plus one; 0 is free.
    uint8_t slots[nameSlots];
} name_list;

bool nameListMake(name_list *list, const char *text);
int32_t nameListFind(const name_list *list, const uint8_t *name, int64_t length);
