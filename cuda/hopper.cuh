/* Finds the smallest keys of every row as in nearest.cuh, using features that only compute
 * capability 9.0 has. Warp groups compute FP16 products from shared memory (wgmma), which is filled
 * by asynchronous bulk copies (cp.async.bulk). A block owns 128 rows and iterates over the columns
 * in tiles of 256. One of its warp groups issues the copies, and the other two process 64 rows
 * each. All columns of a row are processed by the same warp, in which four lanes have one list
 * each, so no atomic operations are needed. */
#ifndef DDSC_CUDA_HOPPER_CUH
#define DDSC_CUDA_HOPPER_CUH

#include "wgmma.cuh"

enum {
    TALL = 128, /* rows of a block */
    RING = 4,   /* stages in the ring */
    HEADS =
        RING + 1, /* number of tiles whose per-column data is stored, which is the largest number of
                   * tiles in flight */
    GROUP = 128,  /* threads of a warp group */
    TEAMS = 2,    /* number of warp groups that compute products */
    CREW = (TEAMS + 1) * GROUP,
    STAGE_BYTES = (TALL + WIDE) / PANEL * PANEL_BYTES,
    GRAIN = 2,        /* number of groups of 8 columns that are checked together */
    QUARTER = 128,    /* number of entries in the list of a lane; a tile can add up to WIDE / 4
                       * entries */
    HOPPER_KEEP = 128 /* length of the longest list that leaves space for new entries */
};

struct hopper_shared {
    char stage[RING][STAGE_BYTES]; /* panels of the rows, then of the columns */
    float head[HEADS][3][WIDE];    /* starts, scales, weights */
    unsigned long long full[RING], empty[RING];
};

enum { HOPPER_BYTES = sizeof(hopper_shared) + 1024 }; /* stages are aligned to 1,024 bytes */

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/* ---- iteration over (rows, column segment), which is the same for all warps of a block ---- */

struct hopper_part {
    int64_t block;            /* first row, relative to row0 */
    int segment, first, last; /* tiles */
};

__device__ __forceinline__ hopper_part part_of(const search &s, int part)
{
    hopper_part p;
    int blocks = (int)((s.rows + TALL - 1) / TALL);
    p.block = (int64_t)(part % blocks) * TALL;
    p.segment = part / blocks;
    p.first = p.segment * s.span;
    p.last = min(s.tiles, p.first + s.span);
    return p;
}

/* A position in the ring of stages. */
struct hopper_place {
    int slot, parity;
};

__device__ __forceinline__ void next_stage(hopper_place &at)
{
    at.slot++;
    if (at.slot == RING) {
        at.slot = 0;
        at.parity ^= 1;
    }
}

/* Copies coordinates k, k + 1, ... of the rows and of the columns of a tile into the next stage. */
__device__ __forceinline__ void bring_stage(const search &s, hopper_shared *m, hopper_place &at,
                                            const char *rows, const char *columns, int k, int more)
{
    const int64_t panel = (int64_t)s.depth * PANEL * 2;
    const int bytes = min(LINES, s.used - k) * PANEL * 2;
    unsigned long long *full = &m->full[at.slot];
    char *to = m->stage[at.slot];
    await(&m->empty[at.slot], at.parity ^ 1);
    expect(full, bytes * ((TALL + WIDE) / PANEL) + more);
#pragma unroll
    for (int q = 0; q < TALL / PANEL; q++, to += PANEL_BYTES)
        bring_bytes(to, rows + q * panel + k * PANEL * 2, bytes, full);
#pragma unroll
    for (int q = 0; q < WIDE / PANEL; q++, to += PANEL_BYTES)
        bring_bytes(to, columns + q * panel + k * PANEL * 2, bytes, full);
}

/* Issues all copies from one thread, as stages become free. */
template <bool WEIGHTED>
__device__ __forceinline__ void bring_all(const search &s, hopper_shared *m, int parts)
{
    hopper_place at = {};
    int head = 0;
    const int64_t panel = (int64_t)s.depth * PANEL * 2;
    for (int part = blockIdx.x; part < parts; part += gridDim.x) {
        hopper_part p = part_of(s, part);
        const char *rows = s.x + (s.row0 + p.block) / PANEL * panel;
        for (int tile = p.first; tile < p.last; tile++) {
            const char *columns = s.x + (int64_t)tile * (WIDE / PANEL) * panel;
            const int64_t column = (int64_t)tile * WIDE;
            unsigned long long *full = &m->full[at.slot];
            bring_stage(s, m, at, rows, columns, 0, (WEIGHTED ? 3 : 2) * WIDE * 4);
            bring_bytes(m->head[head][0], s.start + column, WIDE * 4, full);
            bring_bytes(m->head[head][1], s.scale + column, WIDE * 4, full);
            if (WEIGHTED)
                bring_bytes(m->head[head][2], s.weight + column, WIDE * 4, full);
            next_stage(at);
            for (int k = LINES; k < s.used; k += LINES) {
                bring_stage(s, m, at, rows, columns, k, 0);
                next_stage(at);
            }
            head = head + 1 == HEADS ? 0 : head + 1;
        }
    }
}

/* Frees the previous stage, whose products are included in this warp's sums. */
__device__ __forceinline__ void free_last(hopper_shared *m, const hopper_place &at)
{
    if (threadIdx.x % 32 == 0)
        arrive(&m->empty[at.slot == 0 ? RING - 1 : at.slot - 1]);
}

/* Adds the products of the next stage to the sums. `more` is 0 for the first stage. */
template <int STEPS>
__device__ __forceinline__ void sum_stage(float (&sum)[WIDE / 2], hopper_shared *m, int team,
                                          hopper_place &at, int more)
{
    const char *stage = m->stage[at.slot];
    unsigned long long rows = panels_at(stage + team * PANEL_BYTES);
    unsigned long long columns = panels_at(stage + TALL / PANEL * PANEL_BYTES);
    await(&m->full[at.slot], at.parity);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < STEPS; step++)
        multiply(sum, rows + step * (2048 >> 4), columns + step * (2048 >> 4), more + step);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    products_wait<1>(sum);
    if (more)
        free_last(m, at);
    next_stage(at);
}

/* Computes the sums of a tile. TAIL is the number of steps of the last stage if that stage is
 * partial. It is a template parameter, because the compiler pipelines steps only if their number is
 * constant. */
template <int TAIL>
__device__ __forceinline__ void sum_tile(float (&sum)[WIDE / 2], int used, hopper_shared *m,
                                         int team, hopper_place &at)
{
    int k = 0;
    for (; k + LINES <= used; k += LINES)
        sum_stage<LINES / 16>(sum, m, team, at, k);
    if (TAIL > 0)
        sum_stage<TAIL>(sum, m, team, at, k);
    products_wait<0>(sum);
    free_last(m, at);
}

/* ---- selection ---- */

/* The state of a thread for its two rows, whose numbers differ by 8. */
struct hopper_rows {
    float start[2], times[2]; /* times is -2 scale */
    float limit[2], sure[2];  /* sure: if the compared value is above it, the key is not below the
                               * limit */
    int number[2];
    entry *list[2], *end[2]; /* end: position of the next entry */
};

__device__ __forceinline__ int count_of(const hopper_rows &own, int r)
{
    return r ? (int)(own.end[1] - own.list[1]) : (int)(own.end[0] - own.list[0]);
}

/* Returns true if a key may be below the limit. Unweighted keys are compared without the start
 * of the row. */
template <bool WEIGHTED>
__device__ __forceinline__ bool may_pass(float sum, const hopper_rows &own, int r, float start,
                                         float scale, float weight)
{
    if (WEIGHTED)
        return fmaf(sum * scale, own.times[r], own.start[r] + start) * weight < own.limit[r];
    return fmaf(sum * scale, own.times[r], start) < own.sure[r];
}

/* Sets the limit of a row. Keys are rounded twice, and the value that is compared with `sure` is
 * rounded once. The margin is 16 times the resulting error. */
__device__ __forceinline__ void set_limit(hopper_rows &own, int r, float limit, float largest)
{
    own.limit[r] = limit;
    own.sure[r] = (limit - own.start[r]) + 0x1p-20f * ((fabsf(own.start[r]) + largest) +
                                                       (limit < INFINITY ? fabsf(limit) : 0.0f));
}

/* Returns a mask in which bit j means that columns 8 j .. 8 j + 7 may have a key below a limit. */
template <bool WEIGHTED>
__device__ __forceinline__ unsigned look(const float (&sum)[WIDE / 2], const hopper_rows &own,
                                         const float (*head)[WIDE])
{
    const int at = threadIdx.x % 4 * 2;
    unsigned mask = 0;
#pragma unroll
    for (int j = 0; j < WIDE / 8; j++) {
        float2 start = *(const float2 *)(head[0] + 8 * j + at);
        float2 scale = *(const float2 *)(head[1] + 8 * j + at);
        float2 weight = WEIGHTED ? *(const float2 *)(head[2] + 8 * j + at) : make_float2(1, 1);
        bool any = false;
#pragma unroll
        for (int r = 0; r < 2; r++) {
            any |= may_pass<WEIGHTED>(sum[4 * j + 2 * r], own, r, start.x, scale.x, weight.x);
            any |= may_pass<WEIGHTED>(sum[4 * j + 2 * r + 1], own, r, start.y, scale.y, weight.y);
        }
        if (any)
            mask |= 1u << j;
    }
    return __reduce_or_sync(0xFFFFFFFFu, mask);
}

/* Reloads two numbers from shared memory. The load is volatile, because the compiler would
 * otherwise keep the numbers in registers, of which there are too few. */
__device__ __forceinline__ float2 again(const float *at)
{
    float2 x;
    asm volatile("ld.volatile.shared.v2.f32 {%0, %1}, [%2];"
                 : "=f"(x.x), "=f"(x.y)
                 : "r"(shared_at(at)));
    return x;
}

/* Appends four sums of the lane, in columns from `at` on, to the lists of its rows. The numbers of
 * these columns start with `number`. The code avoids branches, which would cause waits at
 * reconvergence. */
template <bool WEIGHTED>
__device__ __forceinline__ void append(const float *sum, hopper_rows &own,
                                       const float (*head)[WIDE], int at, int number)
{
    float2 start = again(head[0] + at), scale = again(head[1] + at);
    float2 weight = WEIGHTED ? again(head[2] + at) : make_float2(1, 1);
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int c = 0; c < 2; c++) {
            float key = fmaf(sum[2 * r + c] * (c ? scale.y : scale.x), own.times[r],
                             own.start[r] + (c ? start.y : start.x));
            if (WEIGHTED)
                key *= c ? weight.y : weight.x;
            int passes = key < own.limit[r] && number + c != own.number[r];
            asm volatile("{\n"
                         ".reg .pred passes;\n"
                         "setp.ne.s32 passes, %0, 0;\n"
                         "@passes st.global.b64 [%1], %2;\n"
                         "}\n" ::"r"(passes),
                         "l"(own.end[r]), "l"(entry_make(key, number + c))
                         : "memory");
            own.end[r] += passes;
        }
}

/* Appends the entries of a tile that are below the limits of their rows. */
template <bool WEIGHTED>
__device__ __forceinline__ void take_tile(const float (&sum)[WIDE / 2], hopper_rows &own,
                                          const float (*head)[WIDE], int column)
{
    const unsigned who = look<WEIGHTED>(sum, own, head);
    const int at = threadIdx.x % 4 * 2;
    if (who == 0)
        return;
#pragma unroll
    for (int j = 0; j < WIDE / 8; j += GRAIN)
        if (who >> j & ((1u << GRAIN) - 1))
#pragma unroll
            for (int i = j; i < j + GRAIN; i++)
                append<WEIGHTED>(sum + 4 * i, own, head, 8 * i + at, column + 8 * i + at);
}

/* Reduces the four lists of a row to the smallest entries (at least `keep`, and few more) and
 * redistributes them over the four lists. Executed by one warp. Returns the number of entries, and
 * stores in *limit a key that `keep` of them do not exceed. DEEP is the largest length of a list in
 * units of 32. */
template <int DEEP>
__device__ __forceinline__ int cut_quarters(entry *list, const int (&count)[4], int keep,
                                            unsigned *limit)
{
    enum { SLOTS = 4 * DEEP };
    const int lane = threadIdx.x % 32, most = keep + keep / 4;
    entry own[SLOTS];
    unsigned all = ~0u, some = 0, number = ~0u;
    int upto = count[0] + count[1] + count[2] + count[3], kept = 0;
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
        int at = lane + 32 * (s % DEEP);
        own[s] = at < count[s / DEEP] ? list[s / DEEP * QUARTER + at] : ~(entry)0;
        all &= (unsigned)(own[s] >> 32);
        some |= at < count[s / DEEP] ? (unsigned)(own[s] >> 32) : 0u;
    }
    all = __reduce_and_sync(0xFFFFFFFFu, all);
    some = __reduce_or_sync(0xFFFFFFFFu, some);
    int bit = 31 - __clz((int)(all ^ some)); /* the highest bit in which the keys differ */
    unsigned key = bit < 31 ? all & ~0u << (bit + 1) : 0u;
    for (; bit >= 0 && upto > most; bit--) {
        const unsigned tried = key | 1u << bit;
        int less = 0;
#pragma unroll
        for (int s = 0; s < SLOTS; s++)
            less += (unsigned)(own[s] >> 32) < tried;
        less = __reduce_add_sync(0xFFFFFFFFu, less);
        if (less < keep)
            key = tried;
        else
            upto = less;
    }
    key |= (bit < 31 ? 1u << (bit + 1) : 0u) - 1; /* the largest key with the known leading bits */
    if (upto > most) {                            /* there are many equal keys, so those with the
                                                   * smallest numbers are kept */
        int less = 0;
        unsigned part[SLOTS];
#pragma unroll
        for (int s = 0; s < SLOTS; s++) {
            less += (unsigned)(own[s] >> 32) < key;
            part[s] = (unsigned)(own[s] >> 32) == key ? (unsigned)own[s] : ~0u;
        }
        number = ranked<SLOTS>(part, keep - __reduce_add_sync(0xFFFFFFFFu, less) - 1);
    }
    const entry last = (entry)key << 32 | number;
    __syncwarp();
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
        bool stays = own[s] <= last && own[s] != ~(entry)0;
        unsigned who = __ballot_sync(0xFFFFFFFFu, stays);
        int rank = kept + __popc(who & ((1u << lane) - 1));
        if (stays)
            list[rank % 4 * QUARTER + rank / 4] = own[s];
        kept += __popc(who);
    }
    *limit = key;
    __syncwarp();
    return kept;
}

/* Reduces those lists of a warp's rows that have grown. */
__device__ __forceinline__ void cut_rows(const search &s, hopper_rows &own, int64_t block)
{
    const int lane = threadIdx.x % 32;
    __syncwarp(); /* makes the writes of other lanes visible */
#pragma unroll 1
    for (int row = 0; row < 16; row++) {
        const int quad = row % 8 * 4, r = row / 8;
        const int mine = count_of(own, r);
        entry *list = r ? own.list[1] : own.list[0];
        int count[4];
#pragma unroll
        for (int c = 0; c < 4; c++)
            count[c] = __shfl_sync(0xFFFFFFFFu, mine, quad + c);
        list = (entry *)__shfl_sync(0xFFFFFFFFu, (unsigned long long)list, quad);
        const int all = count[0] + count[1] + count[2] + count[3];
        const int most = max(max(count[0], count[1]), max(count[2], count[3]));
        if (all < s.keep + s.keep / 2 && most <= QUARTER - WIDE / 4)
            continue;
        unsigned limit = 0xFF800000u;
        const bool few = all <= s.keep;
        const int kept = most <= 64 ? cut_quarters<2>(list, count, s.keep, &limit)
                                    : cut_quarters<QUARTER / 32>(list, count, s.keep, &limit);
        if (few)
            limit = ~0u;
        else if (s.segments > 1) {
            unsigned seen = lane == 0 ? atomicMin(&s.limit[block + row], limit) : 0;
            limit = min(limit, above(__shfl_sync(0xFFFFFFFFu, seen, 0)));
        }
        if (lane / 4 != row % 8)
            continue;
#pragma unroll
        for (int mine_r = 0; mine_r < 2; mine_r++)
            if (mine_r == r) {
                own.end[mine_r] = own.list[mine_r] + (kept + 3 - lane % 4) / 4;
                if (limit < 0xFF800000u)
                    set_limit(own, mine_r, fminf(own.limit[mine_r], key_of(limit)), s.largest);
            }
    }
}

template <int TAIL, bool WEIGHTED>
__device__ __forceinline__ void take_all(const search &s, hopper_shared *m, int parts)
{
    const int team = (int)threadIdx.x / GROUP - 1, lane = threadIdx.x % 32;
    const int warp = (int)threadIdx.x / 32 - GROUP / 32, first = warp * 16 + lane / 4;
    hopper_place at = {};
    int head = 0;
    float sum[WIDE / 2];
    hopper_rows own;
    for (int part = blockIdx.x; part < parts; part += gridDim.x) {
        hopper_part p = part_of(s, part);
        if (part == (int)blockIdx.x && team == 1 && (p.last - p.first) * s.used >= RING * LINES)
            await(&m->full[RING - 1],
                  0); /* lets one warp group compute products while the other selects */
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int64_t row = p.block + first + 8 * r;
            own.number[r] = (int)(s.row0 + row);
            own.start[r] = s.start[s.row0 + row];
            own.times[r] = -2.0f * s.scale[s.row0 + row];
            own.list[r] = s.list + ((row * s.segments + p.segment) * 4 + lane % 4) * QUARTER;
            own.end[r] = own.list[r];
            set_limit(own, r, key_of(min(0xFF800000u, above(s.limit[row]))), s.largest);
        }
        for (int tile = p.first, next = 1; tile < p.last; tile++) {
            sum_tile<TAIL>(sum, s.used, m, team, at);
            take_tile<WEIGHTED>(sum, own, m->head[head], tile * WIDE);
            head = head + 1 == HEADS ? 0 : head + 1;
            /* All warps reduce their lists at the same tiles, because they wait for each other. A
             * list that is full is reduced immediately. */
            bool now = tile - p.first + 1 == next;
            next = now ? 4 * next : next;
            if (__any_sync(0xFFFFFFFFu,
                           now || max(count_of(own, 0), count_of(own, 1)) > QUARTER - WIDE / 4))
                cut_rows(s, own, p.block + warp * 16);
        }
#pragma unroll
        for (int r = 0; r < 2; r++)
            s.count[((p.block + first + 8 * r) * s.segments + p.segment) * 4 + lane % 4] =
                count_of(own, r);
    }
}

#endif /* compute capability 9.0 */

template <int TAIL, bool WEIGHTED>
__global__ void __launch_bounds__(CREW, 1) hopper_kernel(search s, int parts)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    extern __shared__ __align__(16) char memory[];
    hopper_shared *m = (hopper_shared *)(memory + (1024 - (shared_at(memory) & 1023)) % 1024);
    if (threadIdx.x == 0) {
        for (int i = 0; i < RING; i++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_at(&m->full[i])));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_at(&m->empty[i])),
                         "n"((int)(TEAMS * GROUP / 32)));
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x < GROUP) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0)
            bring_all<WEIGHTED>(s, m, parts);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        take_all<TAIL, WEIGHTED>(s, m, parts);
    }
#endif
}

#endif
