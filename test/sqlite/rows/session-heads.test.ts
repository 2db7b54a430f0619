import t from 'tap'
import { lifeContract } from '../../store/contract/lives.ts'
import { proveParts } from '../contract.ts'

proveParts(t, lifeContract)
