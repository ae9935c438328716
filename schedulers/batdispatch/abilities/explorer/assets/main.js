// The explorer of a page with jobs on plain hosts.

import { begin } from "./start.js";

begin();
