import t from 'tap'
import { proveParts } from '../contract.ts'

proveParts(t, 'rows', 'session lists')
