import t from 'tap'
import { quotaContract } from '../../store/contract/quotas.ts'
import { proveParts } from '../contract.ts'

proveParts(t, quotaContract)
