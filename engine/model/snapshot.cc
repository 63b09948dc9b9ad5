#include "engine/model/snapshot.h"
