import { join } from 'node:path'
import t from 'tap'
import { checkAriaSnapshots } from '../kit/aria-snapshots.ts'

t.test('each state of a session and its folder has the roles, names and states that it had [app-design §12]', t =>
  checkAriaSnapshots(t, 'story', join(import.meta.dirname, 'session.txt'))
)
