import t from 'tap'
import { signInContract } from '../../store/contract/sign-in.ts'
import { proveParts } from '../contract.ts'

proveParts(t, signInContract)
