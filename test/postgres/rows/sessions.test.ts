import t from 'tap'
import { rowContract } from '../../store/contract/rows.ts'
import { sessionListContract } from '../../store/contract/session-lists.ts'
import { proveParts } from '../contract.ts'

proveParts(t, rowContract, sessionListContract)
