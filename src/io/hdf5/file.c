/* Accesses an HDF5 file as a tree of folders and tables: opens the file from disk or memory, and
 * follows hard links. These functions run in the process that calls libhdf5 (call.c, child.c). */
#include "io/hdf5/hdf5.h"

#ifdef DDSC_HAVE_HDF5
#include <stdio.h>
#include <string.h>

#include "io/hdf5/internal.h"

/* libhdf5 keeps process-wide state and is not thread-safe, so only one caller at a time may use
 * it. */
static spin turn_lock;

void h5_hold(bool hold)
{
    if (hold)
        spin_lock(&turn_lock);
    else
        spin_unlock(&turn_lock);
}

h5_turn h5_begin(void)
{
    h5_turn turn = {0};
    spin_lock(&turn_lock);
    H5Eget_auto2(H5E_DEFAULT, &turn.print, &turn.print_arg);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5Eclear2(H5E_DEFAULT);
    return turn;
}

void h5_end(h5_turn turn)
{
    H5Eset_auto2(H5E_DEFAULT, turn.print, turn.print_arg);
    spin_unlock(&turn_lock);
}

/* Copies the description of an error record. The innermost record is visited last, so its
 * description remains. */
static herr_t keep_reason(unsigned n, const H5E_error2_t *error, void *out)
{
    (void)n;
    if (error->desc)
        snprintf(out, QUOTE_TEXT * 2, "%s", error->desc);
    return 0;
}

ddsc_status h5_fail(h5_file *f, const char *what, const char *path)
{
    char reason[QUOTE_TEXT * 2] = "no detail";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_reason, reason);
    return stream_fail(f->s, "%s%s%s%s (%s)", what, path ? " \"" : "", path ? QUOTE(path) : "",
                       path ? "\"" : "", QUOTE(reason));
}

/* ---- opening ---- */

/* Opens the file from memory: the bytes of the stream, or a copy of a source that can be read only
 * once. */
static void open_image(h5_file *f, hid_t access)
{
    union {
        const unsigned char *in;
        void *out;
    } image = {f->image ? f->image : stream_memory(f->s)}; /* libhdf5 copies the bytes */
    H5Pset_fapl_core(access, 1 << 16, false);
    H5Pset_file_image(access, image.out, (size_t)f->size);
    f->id = H5Fopen("memory", H5F_ACC_RDONLY, access);
}

ddsc_status h5_raw_open(h5_file *f)
{
    ddsc_status status = DDSC_OK;
    h5_turn turn = h5_begin();
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (f->image || stream_memory(f->s))
        open_image(f, access);
    else
        f->id = H5Fopen(stream_path(f->s), H5F_ACC_RDONLY, access);
    if (f->id < 0)
        status = h5_fail(f, "is a damaged HDF5 file", NULL);
    H5Pclose(access);
    h5_end(turn);
    return status;
}

void h5_raw_close(h5_file *f)
{
    if (f->id < 0)
        return;
    h5_turn turn = h5_begin();
    H5Fclose(f->id);
    h5_end(turn);
    f->id = -1;
}

/* ---- the tree ---- */

/* Follows one hard link from a folder to a member. *to is -1 if the link does not exist. */
static ddsc_status follow_link(h5_file *f, hid_t from, const char *name, const char *path,
                               hid_t *to)
{
    H5L_info_t link;
    *to = -1;
    if (H5Iget_type(from) != H5I_GROUP && H5Iget_type(from) != H5I_FILE)
        return DDSC_OK;
    if (H5Lexists(from, name, H5P_DEFAULT) <= 0)
        return DDSC_OK;
    if (H5Lget_info(from, name, &link, H5P_DEFAULT) < 0)
        return h5_fail(f, "damaged HDF5 data at", path);
    if (link.type != H5L_TYPE_HARD)
        return stream_fail(f->s, "\"%s\" is a soft or external link, which is not supported",
                           QUOTE(path));
    *to = H5Oopen(from, name, H5P_DEFAULT);
    return *to < 0 ? h5_fail(f, "damaged HDF5 data at", path) : DDSC_OK;
}

ddsc_status h5_reach(h5_file *f, const char *path, hid_t *object)
{
    char name[H5_PATH];
    ddsc_status status = DDSC_OK;
    hid_t at = H5Gopen2(f->id, "/", H5P_DEFAULT);
    if (at < 0)
        return h5_fail(f, "is a damaged HDF5 file", NULL);
    while (status >= 0 && at >= 0 && path[strspn(path, "/")]) {
        const char *begin = path + strspn(path, "/");
        size_t n = strcspn(begin, "/");
        hid_t next = -1;
        path = begin + n;
        if (n < sizeof name) {
            memcpy(name, begin, n);
            name[n] = '\0';
            status = follow_link(f, at, name, name, &next);
        }
        H5Oclose(at);
        at = next;
    }
    *object = at;
    return status;
}

ddsc_status h5_raw_find(h5_file *f, const char *path, h5_kind *kind)
{
    hid_t object = -1;
    h5_turn turn = h5_begin();
    ddsc_status status = h5_reach(f, path, &object);
    H5I_type_t type = object < 0 ? H5I_BADID : H5Iget_type(object);
    *kind = type == H5I_GROUP ? H5_FOLDER : type == H5I_DATASET ? H5_TABLE : H5_NOTHING;
    if (object >= 0)
        H5Oclose(object);
    h5_end(turn);
    return status;
}

typedef struct name_list {
    char *out;
    size_t capacity, at;
} name_list;

static herr_t list_one(hid_t group, const char *name, const H5L_info_t *info, void *arg)
{
    name_list *list = arg;
    (void)group, (void)info;
    list->at += (size_t)snprintf(list->out + list->at, list->capacity - list->at, "%s%s",
                                 list->at ? ", " : "", QUOTE(name));
    return list->at >= list->capacity; /* a nonzero result stops the iteration */
}

ddsc_status h5_raw_list(h5_file *f, const char *path, char *out, size_t capacity)
{
    name_list list = {out, capacity, 0};
    hid_t object = -1;
    h5_turn turn = h5_begin();
    ddsc_status status = h5_reach(f, path, &object);
    *out = '\0';
    if (object >= 0) {
        if (H5Iget_type(object) == H5I_GROUP)
            H5Literate(object, H5_INDEX_NAME, H5_ITER_INC, NULL, list_one, &list);
        H5Oclose(object);
    }
    if (list.at >= capacity)
        strcpy(out + capacity - 4, "...");
    h5_end(turn);
    return status;
}

ddsc_status h5_raw_name(h5_file *f, const char *path, int64_t k, char name[H5_NAME], bool *more)
{
    hid_t object = -1;
    H5G_info_t info;
    h5_turn turn = h5_begin();
    ddsc_status status = h5_reach(f, path, &object);
    *more = false;
    *name = '\0';
    if (object >= 0) {
        *more = H5Iget_type(object) == H5I_GROUP && H5Gget_info(object, &info) >= 0 &&
                (hsize_t)k < info.nlinks;
        if (*more && H5Lget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, (hsize_t)k, name,
                                        H5_NAME, H5P_DEFAULT) >= H5_NAME)
            *name = '\0';
        H5Oclose(object);
    }
    h5_end(turn);
    return status;
}

/* ---- attributes ---- */

/* Reads a text attribute of fixed or variable length. */
static void text_attribute(hid_t attribute, hid_t type, char out[H5_ATTRIBUTE])
{
    hid_t memory = H5Tcopy(H5T_C_S1);
    H5Tset_cset(memory, H5Tget_cset(type));
    if (H5Tis_variable_str(type) > 0) {
        char *text = NULL;
        H5Tset_size(memory, H5T_VARIABLE);
        if (H5Aread(attribute, memory, &text) >= 0 && text)
            snprintf(out, H5_ATTRIBUTE, "%s", text);
        if (text)
            H5free_memory(text);
    } else if (H5Tget_size(type) < H5_ATTRIBUTE) {
        H5Tset_size(memory, H5_ATTRIBUTE);
        if (H5Aread(attribute, memory, out) < 0)
            *out = '\0';
        out[H5_ATTRIBUTE - 1] = '\0';
    }
    H5Tclose(memory);
}

/* Reads the attribute if it has `count` values of the class `class`. Otherwise, sets *found to
 * false. */
static ddsc_status read_attribute(h5_file *f, const char *path, const char *name, H5T_class_t class,
                                  int64_t count, void *out, bool *found)
{
    hid_t object = -1;
    ddsc_status status = h5_reach(f, path, &object);
    *found = false;
    if (object < 0)
        return status;
    if (H5Aexists(object, name) > 0) {
        hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
        hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
        if (type >= 0 && H5Tget_class(type) == class &&
            H5Sget_simple_extent_npoints(space) == count) {
            *found = true;
            if (class == H5T_STRING)
                text_attribute(attribute, type, out);
            else
                *found = H5Aread(attribute, H5T_NATIVE_INT64, out) >= 0;
        }
        if (space >= 0)
            H5Sclose(space);
        if (type >= 0)
            H5Tclose(type);
        if (attribute >= 0)
            H5Aclose(attribute);
    }
    H5Oclose(object);
    return DDSC_OK;
}

ddsc_status h5_raw_attribute(h5_file *f, const char *path, const char *name, char out[H5_ATTRIBUTE])
{
    bool found;
    memset(out, 0, H5_ATTRIBUTE);
    h5_turn turn = h5_begin();
    ddsc_status status = read_attribute(f, path, name, H5T_STRING, 1, out, &found);
    h5_end(turn);
    return status;
}

ddsc_status h5_raw_shape(h5_file *f, const char *path, const char *name, int64_t shape[2],
                         bool *found)
{
    h5_turn turn = h5_begin();
    ddsc_status status = read_attribute(f, path, name, H5T_INTEGER, 2, shape, found);
    h5_end(turn);
    return status;
}

#endif
