// The primal over the plane of w (with the best bias for each), its contours, and where the runs went on it.

import { asker, axes, choice, figure, frameOf, label, linear, notice, outlineOf, part, stroke, written } from "./chart.js";
