// A negative control of the histories of several instances, loaded into each with --import: what arrived is compared with the store
// too rarely. While Redis is away, clients of other instances are told later than they are promised.
import { changeSource } from './change-source.mjs'

changeSource('lib/server/hub/clock-watch.ts', text => text.replace('lookEveryMs = 2_000', 'lookEveryMs = 60_000'))
