import t from 'tap'
import { checkPresses } from '../kit/presses.ts'

t.test('each press does what it did [app-design §12]', t => checkPresses(t, 'conversation'))
