#include "xml_names.h"

#include <stdlib.h>
#include <string.h>

static uint32_t slotOf(const uint8_t *name, int64_t length) {
    uint32_t hash = (uint32_t)length * 31u + name[0] * 7u + name[length / 2] * 17u + name[length - 1] * 131u;
    return (hash ^ hash >> 7) & (nameSlots - 1);
}

bool nameListMake(name_list *list, const char *text) {
    list->text = strdup(text);
    if (list->text == NULL) return false;
    char *rest = NULL;
    for (char *name = strtok_r(list->text, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
        if (list->count == maximumNames) return false;
        int32_t length = (int32_t)strlen(name);
        uint32_t slot = slotOf((const uint8_t *)name, length);
        while (list->slots[slot] != 0) slot = (slot + 1) & (nameSlots - 1);
        list->names[list->count] = name;
        list->lengths[list->count] = length;
        list->slots[slot] = (uint8_t)++list->count;
    }
    return true;
}

int32_t nameListFind(const name_list *list, const uint8_t *name, int64_t length) {
    if (length == 0) return -1;
    uint32_t slot = slotOf(name, length);
    for (; list->slots[slot] != 0; slot = (slot + 1) & (nameSlots - 1)) {
        int32_t index = list->slots[slot] - 1;
        if (list->lengths[index] == length && memcmp(list->names[index], name, (size_t)length) == 0) return index;
    }
    return -1;
}
