import { join } from 'node:path'
import t from 'tap'
import { checkAriaSnapshots } from '../kit/aria-snapshots.ts'

t.test('each state of the app has the roles, names and states that it had [app-design §12]', t =>
  checkAriaSnapshots(t, 'app', join(import.meta.dirname, 'app.txt'))
)
