"""Writes python/ddsc/datasets/documents.tsv: a hundred short documents on five subjects, assembled from
the sentences below. The sentences were written for this purpose and are free for any use (CC0).

    python3 tools/documents.py > python/ddsc/datasets/documents.tsv

In a sentence, [a|b|c] is replaced by one of its parts. A document has five different sentences on its subject, and one
general sentence. In every fifth document, two of the five sentences are from another subject.
"""
import random
import re

SUBJECTS = {
    "cooking": """
Heat the [olive oil|butter] in a [heavy|wide] pan and fry the [onions|leeks|shallots] until they are [golden|soft].
Add the [garlic|ginger] and the [tomatoes|carrots], and let the sauce simmer for [ten|twenty] minutes.
Season with [salt and pepper|lemon and salt|a pinch of nutmeg] before you serve the [soup|stew|sauce].
Knead the dough for [five|ten] minutes and let it rest in a [warm|covered] bowl.
Bake the [bread|cake|tart] in a hot oven until the crust is [brown|crisp|golden].
Boil the [rice|pasta|potatoes] in plenty of salted water and drain them well.
Whisk the eggs with [sugar|cream|milk] and fold in the flour.
The recipe serves [four|six] and keeps in the fridge for [two|three] days.
Chop the [parsley|basil|herbs] finely and sprinkle them over the dish.
Grill the [fish|chicken|aubergines] on both sides and serve with [rice|salad|bread].
Melt the [chocolate|butter] slowly, or the sauce will [burn|curdle].
A spoon of [vinegar|honey|mustard] lifts the flavour of the [salad|dressing|stew].
Taste the [soup|sauce|broth] and add more [salt|pepper|lemon] if it needs it.
Roast the [potatoes|carrots|pumpkin] with [thyme|rosemary|garlic] in the oven.
""",
    "football": """
The [striker|captain|winger] scored a late goal and the home fans [sang|cheered] until the end.
[United|Rovers|City] won the match by [two|three] goals to one after a slow first half.
The goalkeeper saved a penalty in the [last|first] minute of the cup tie.
The coach praised his [defenders|midfield|young players] and said the team had earned the points.
The referee showed a red card after a [hard|late] tackle near the penalty area.
[United|Rovers|City] stay on top of the league with [five|six] matches to play.
A header from a corner levelled the match before the [break|final whistle].
The club signed a [defender|striker|goalkeeper] for a fee that was not announced.
The [captain|defender] is injured and will miss the [cup final|next match|rest of the season].
The away team pressed high and lost the ball too often in midfield.
Supporters filled the stadium an hour before the match began.
The coach changed [two|three] players at the break and the team attacked at once.
A draw would have been fair, said the [captain|coach|goalkeeper] after the final whistle.
The winger crossed the ball and the striker [headed|kicked] it past the goalkeeper.
""",
    "weather": """
Rain will spread from the west and turn to [snow|sleet] on the hills by evening.
Winds of [sixty|eighty] kilometres an hour are forecast along the coast tonight.
The forecast is [dry|cloudy|wet] with temperatures near [ten|fifteen|twenty] degrees.
A ridge of high pressure brings [sunny|dry|calm] days and cold nights.
Fog in the valleys clears slowly and the afternoon stays [mild|cloudy|bright].
Heavy [showers|rain] may flood roads near the river, the weather service warned.
The storm brought [hail|lightning|gusts] and left villages without power.
Temperatures fall below zero at night and roads may be icy in the morning.
The heat wave ends on [Friday|Sunday] when cooler air and [showers|thunderstorms] arrive.
A front with thick cloud crosses the country from the [north|west].
This was the [wettest|driest|warmest] month since records began, the weather service said.
Sea breezes keep the coast [cool|mild] while the hills see thunderstorms.
Frost is likely in the valleys and snow on the northern hills.
The wind turns to the [north|east] and brings cold, dry air.
""",
    "astronomy": """
The telescope found a planet that circles a [dim|red|young] star every [nine|twelve] days.
Astronomers measured the light of the galaxy and the dust that hides its core.
The [comet|asteroid] will pass the Earth at a distance of [two|four] million kilometres.
A star of this mass ends as a [white dwarf|neutron star|black hole].
The probe entered an orbit around [Mars|Jupiter|Saturn] and sent its first images.
Dark spots on the Sun grow in number as the solar cycle nears its peak.
The spectrum of the star shows lines of [iron|hydrogen|helium].
Gravity bends the light of distant galaxies into [arcs|rings].
The moon of [Saturn|Jupiter] hides an ocean under a crust of ice.
The mission will map the [craters|poles] of the Moon from a low orbit.
The supernova outshone its galaxy for [two|three] weeks.
Radio telescopes record the pulses of the spinning neutron star.
The galaxy cluster holds more dark matter than stars and gas.
Through a small telescope the rings of Saturn are visible on a clear night.
""",
    "gardening": """
Sow the [carrots|lettuce|beans] in rows and cover the seeds with fine soil.
Water the [seedlings|tomatoes|beds] in the evening and keep the soil moist.
Prune the [roses|apple trees|vines] in late winter before the buds open.
Spread compost on the beds in [autumn|spring] to feed the soil.
Plant the bulbs [ten|fifteen] centimetres deep, in a sunny place.
Slugs eat young [lettuce|cabbages|seedlings], so check the leaves at night.
Tie the tomatoes to a stake and pinch out the side shoots.
Pull the weeds while they are small, roots and all.
Cut the [lawn|hedge] once a week in [May|June] and leave the clippings as mulch.
The [roses|lilies|dahlias] flower until the first frost if old blooms are cut.
Move pots of [basil|geraniums|lemon trees] indoors before the nights get cold.
Dig the bed in [autumn|spring] and rake out stones and roots.
The cuttings grow roots in [two|three] weeks in a moist pot.
Bees and butterflies visit the [lavender|thyme|borders] all summer.
""",
}
ANYWHERE = """
It is worth waiting for.
People have done it this way for many years.
Nobody expected it a week ago.
It takes patience, and it is easy to forget.
More of this in the next days.
There is no rule without exceptions.
"""
TITLES = {
    "cooking": "Dinner|Kitchen notes|A dish for guests|From the stove|What to cook",
    "football": "Match report|From the stadium|The league|Cup night|Club news",
    "weather": "Forecast|The outlook|Weather warning|The week ahead|Tonight",
    "astronomy": "The night sky|From the observatory|Space news|Planets and stars|Seen from afar",
    "gardening": "In the garden|Beds and borders|Jobs for the week|The green corner|Plant notes",
}
PER_SUBJECT = 20


def told(sentence, draw):
    return re.sub(r"\[(.*?)\]", lambda m: draw.choice(m.group(1).split("|")), sentence)


def main():
    draw = random.Random(17)
    anywhere = ANYWHERE.split("\n")[1:-1]
    rows = []
    sentences = {subject: text.split("\n")[1:-1] for subject, text in SUBJECTS.items()}
    for subject in SUBJECTS:
        titles = TITLES[subject].split("|")
        for i in range(PER_SUBJECT):
            chosen = draw.sample(sentences[subject], 5)
            if i % 5 == 4:
                other = draw.choice([s for s in SUBJECTS if s != subject])
                chosen[3:] = draw.sample(sentences[other], 2)
            parts = [told(s, draw) for s in chosen]
            parts.insert(draw.randrange(1, 6), draw.choice(anywhere))
            title = f"{titles[i % 5]} {i // 5 + 1}"
            rows.append((f"{subject}-{i + 1:02}", subject, title, " ".join(parts)))
    draw.shuffle(rows)
    print("id\tlabel\ttitle\ttext")
    for row in rows:
        print("\t".join(row))


main()
