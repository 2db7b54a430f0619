import t from 'tap'
import { checkAriaSnapshots } from '../kit/aria-snapshots.ts'

t.test('each state has the roles, names and states that it had [app-design §12]', t => checkAriaSnapshots(t, 'conversation'))
