import t from 'tap'
import { kvContract } from '../../store/contract/kv.ts'
import { proveParts } from '../contract.ts'

proveParts(t, kvContract)
