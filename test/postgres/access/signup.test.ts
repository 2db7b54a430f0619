import t from 'tap'
import { signUpContract } from '../../store/contract/sign-up.ts'
import { proveParts } from '../contract.ts'

proveParts(t, signUpContract)
