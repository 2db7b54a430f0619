import t from 'tap'
import { proveParts } from '../contract.ts'

proveParts(t, 'sign-in', 'expiry')
