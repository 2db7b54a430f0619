import t from 'tap'
import { artifactContract } from '../../store/contract/artifacts.ts'
import { proveParts } from '../contract.ts'

proveParts(t, artifactContract)
