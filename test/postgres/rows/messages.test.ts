import t from 'tap'
import { messageContract } from '../../store/contract/messages.ts'
import { proveParts } from '../contract.ts'

proveParts(t, messageContract)
