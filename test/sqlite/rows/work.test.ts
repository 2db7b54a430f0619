import t from 'tap'
import { workContract } from '../../store/contract/work.ts'
import { proveParts } from '../contract.ts'

proveParts(t, workContract)
