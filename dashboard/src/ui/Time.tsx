export * from './records.tsx';
