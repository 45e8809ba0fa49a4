/* A list of English function words, which do not distinguish topics. */
#include <stdlib.h>
#include <string.h>

#include "report/traits/explain.h"

/* The words are articles, pronouns, prepositions, conjunctions, auxiliary verbs, and adverbs and
 * verbs of saying that occur in any topic. Sorted for bsearch. */
static const char *const list[] = {
    "'s",       "a",         "about",      "above",   "across",    "after",    "again",
    "against",  "ago",       "all",        "almost",  "along",     "already",  "also",
    "although", "always",    "am",         "among",   "an",        "and",      "another",
    "any",      "anyone",    "are",        "aren't",  "around",    "as",       "at",
    "away",     "back",      "be",         "became",  "because",   "become",   "been",
    "before",   "behind",    "being",      "below",   "between",   "both",     "but",
    "by",       "can",       "can't",      "cannot",  "could",     "couldn't", "did",
    "didn't",   "do",        "does",       "doesn't", "doing",     "don't",    "done",
    "down",     "during",    "each",       "either",  "else",      "even",     "ever",
    "every",    "everyone",  "few",        "for",     "from",      "further",  "get",
    "gets",     "getting",   "go",         "going",   "got",       "had",      "hadn't",
    "has",      "hasn't",    "have",       "haven't", "having",    "he",       "he'd",
    "he'll",    "he's",      "her",        "here",    "hers",      "herself",  "him",
    "himself",  "his",       "how",        "however", "i",         "i'd",      "i'll",
    "i'm",      "i've",      "if",         "in",      "into",      "is",       "isn't",
    "it",       "it'll",     "it's",       "its",     "itself",    "just",     "least",
    "less",     "let",       "like",       "made",    "make",      "makes",    "making",
    "many",     "may",       "me",         "might",   "mine",      "more",     "most",
    "much",     "must",      "my",         "myself",  "n't",       "neither",  "never",
    "no",       "nor",       "not",        "nothing", "now",       "of",       "off",
    "often",    "on",        "once",       "one",     "only",      "onto",     "or",
    "other",    "others",    "our",        "ours",    "ourselves", "out",      "over",
    "own",      "per",       "perhaps",    "rather",  "really",    "said",     "same",
    "say",      "saying",    "says",       "she",     "she'd",     "she'll",   "she's",
    "should",   "shouldn't", "since",      "so",      "some",      "someone",  "something",
    "still",    "such",      "than",       "that",    "that's",    "the",      "their",
    "theirs",   "them",      "themselves", "then",    "there",     "there's",  "therefore",
    "these",    "they",      "they'd",     "they'll", "they're",   "they've",  "this",
    "those",    "though",    "through",    "thus",    "to",        "together", "too",
    "toward",   "towards",   "under",      "until",   "up",        "upon",     "us",
    "use",      "used",      "uses",       "using",   "very",      "via",      "was",
    "wasn't",   "we",        "we'd",       "we'll",   "we're",     "we've",    "well",
    "were",     "weren't",   "what",       "what's",  "when",      "where",    "whether",
    "which",    "while",     "who",        "who's",   "whom",      "whose",    "why",
    "will",     "with",      "within",     "without", "won't",     "would",    "wouldn't",
    "yet",      "you",       "you'd",      "you'll",  "you're",    "you've",   "your",
    "yours",    "yourself"};

enum { LONGEST = 10 };

static int compare_text(const void *key, const void *entry)
{
    return strcmp(key, *(const char *const *)entry);
}

bool traits_is_function_word(const char *word, size_t length)
{
    char copy[LONGEST + 1];
    if (length == 0 || length > LONGEST)
        return false;
    memcpy(copy, word, length);
    copy[length] = 0;
    return bsearch(copy, list, sizeof list / sizeof *list, sizeof *list, compare_text) != NULL;
}
