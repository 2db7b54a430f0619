import t from 'tap'
import { removalContract } from '../../store/contract/removals.ts'
import { proveParts } from '../contract.ts'

proveParts(t, removalContract)
