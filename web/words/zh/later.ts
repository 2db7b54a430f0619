import { compose } from './compose.ts'
import { machine } from './machine.ts'
import { people } from './people.ts'
import { ringing } from './ringing.ts'
import { session } from './session.ts'
import { work } from './work.ts'

/** What the screens say that come when they are opened. */
export const laterChinese = { compose, machine, people, ringing, session, work }
