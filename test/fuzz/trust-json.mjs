// A negative control of the fuzz, loaded into the server with --import: text that is no JSON is an error like any other,
// so a client can cause it.
import { changeSource } from '../instances/change-source.mjs'

changeSource('lib/server/edge/http/json.ts', text => text.replace("return 'no-json'", "throw new Error('no JSON')"))
