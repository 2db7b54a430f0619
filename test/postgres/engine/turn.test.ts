import t from 'tap'
import { turnContract } from '../../store/contract/turns.ts'
import { proveParts } from '../contract.ts'

proveParts(t, turnContract)
