import t from 'tap'
import { cellContract } from '../../store/contract/cells.ts'
import { proveParts } from '../contract.ts'

proveParts(t, cellContract)
