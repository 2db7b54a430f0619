import t from 'tap'
import { proveParts } from '../sqlite/contract.ts'
import { storeContract } from '../store/contract.ts'

// The whole contract in one process, for `kill.ts`; the tests of the sources in `sqlite/` prove a part each.
proveParts(t, storeContract)
