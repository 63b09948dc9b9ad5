#include "engine/model/journal_entry.h"
