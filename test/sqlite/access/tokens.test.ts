import t from 'tap'
import { expiryContract } from '../../store/contract/expiry.ts'
import { tokenContract } from '../../store/contract/tokens.ts'
import { proveParts } from '../contract.ts'

proveParts(t, expiryContract, tokenContract)
