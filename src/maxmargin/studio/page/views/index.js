// All linked views, in the order of their tabs.

import { conditions } from "./conditions.js";
import { curves } from "./curves.js";
import { duals } from "./duals.js";
import { gaps } from "./gaps.js";
import { hulls } from "./hulls.js";
import { kernel } from "./kernel.js";
import { landscape } from "./landscape.js";
import { path } from "./path.js";
import { update } from "./update.js";

/** @type {import("../types.js").View[]} */
export const views = [curves, duals, update, landscape, hulls, gaps, conditions, path, kernel];
