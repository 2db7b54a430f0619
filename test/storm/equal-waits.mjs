// The negative control of the storm, loaded into its clients: they wait equally long, and so return together.
import { changeSource } from '../instances/change-source.mjs'

changeSource('lib/async/backoff.ts', text => text.replace('random() * Math.min', '0.5 * Math.min'))
