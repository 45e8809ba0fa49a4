// The header seen by C++20: macros, structs, flags and constants are usable as they stand.
#include <ddsc/ddsc.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

static_assert(DDSC_VERSION_NUMBER >= 100, "the version is a constant");

int main()
{
    const std::vector<double> points{0, 1, 10, 11};
    const std::vector<std::int64_t> offsets{0, 1, 2, 3, 4};
    ddsc_context *context = nullptr;
    ddsc_measures *items = nullptr;
    ddsc_context_settings settings;
    ddsc_context_settings_init(&settings);
    settings.threads = 1;
    settings.warning = [](void *, const char *text) { std::fprintf(stderr, "%s\n", text); };
    if (ddsc_context_create(&context, &settings) != DDSC_OK)
        return 1;
    if (ddsc_measures_create_clouds(context, &items, 4, 1, points.data(), nullptr, offsets.data(),
                                    DDSC_EMPTY_ERROR) != DDSC_OK)
        return 2;
    std::vector<double> distance(6);
    ddsc_pair_stats stats;
    ddsc_pair_stats_init(&stats);
    if (ddsc_distance_run(context, distance.data(), &stats, items, nullptr,
                          DDSC_DISTANCE_SQUARED | DDSC_DISTANCE_CONDENSED) != DDSC_OK)
        return 3;
    ddsc_measures_view view;
    ddsc_measures_get_view(items, &view);
    const bool good = stats.n_pairs == 6 && distance[1] == 100 && view.n_items == 4 &&
                      std::strlen(ddsc_version()) > 0;
    ddsc_measures_destroy(items);
    ddsc_context_destroy(context);
    std::puts(good ? "C++ sees the library" : "C++ sees something else");
    return good ? 0 : 4;
}
