import t from 'tap'
import { usageContract } from '../../store/contract/usage.ts'
import { proveParts } from '../contract.ts'

proveParts(t, usageContract)
