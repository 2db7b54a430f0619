import t from 'tap'
import { changeContract } from '../../store/contract/changes.ts'
import { proveParts } from '../contract.ts'

proveParts(t, changeContract)
