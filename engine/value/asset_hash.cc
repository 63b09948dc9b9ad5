#include "engine/value/asset_hash.h"
