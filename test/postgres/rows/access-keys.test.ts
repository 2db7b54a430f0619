import t from 'tap'
import { accessKeyContract } from '../../store/contract/access-keys.ts'
import { proveParts } from '../contract.ts'

proveParts(t, accessKeyContract)
