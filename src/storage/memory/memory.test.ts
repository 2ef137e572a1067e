import { storageContract } from '../contract/storage-contract.ts';
import { createMemoryStorage } from './memory-storage.ts';

storageContract(async () => createMemoryStorage());
