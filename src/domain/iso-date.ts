/** ISO 8601 in UTC. @param time milliseconds since the Unix epoch */
export const isoDate = (time: number): string => new Date(time).toISOString();
