import { alerts } from './alerts.ts'
import { compose } from './compose.ts'
import { machine } from './machine.ts'
import { outcomes } from './outcomes.ts'
import { people } from './people.ts'
import { session } from './session.ts'
import { work } from './work.ts'

/** What the screens say that come when they are opened. */
export const laterChinese = { compose, machine, outcomes, people, alerts, session, work }
