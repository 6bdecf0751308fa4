import HealthModel

extension SleepSession {
    /// A session as a member of the daily summary.
    public var figure: [String: Value] {
        [
            "start": .string(InstantText.iso8601(start)),
            "end": .string(InstantText.iso8601(end)),
            "source": .string(source),
            "asleepMinutes": Value(asleep),
            "inBedMinutes": Value(inBed),
            "awakeMinutes": Value(awake),
            "coreMinutes": Value(core),
            "deepMinutes": Value(deep),
            "remMinutes": Value(rem),
            "unspecifiedMinutes": Value(unspecified),
            "latencyMinutes": Value(latency),
            "wakeAfterOnsetMinutes": Value(wakeAfterOnset),
            "efficiency": Value(efficiency),
        ]
    }

    /// How many minutes came from each source, as a member of the night's event.
    public var sourceMinutes: Value {
        .array(
            sources.map {
                [
                    "source": .string($0.source), "asleepMinutes": Value($0.asleep), "awakeMinutes": Value($0.awake),
                ]
            })
    }
}

extension SleepDay {
    /// The figures, under their names in the summary; empty without a session.
    public var figures: [String: Value] {
        guard let main else { return [:] }
        return ["sleep": .object(sessions[main].figure), "naps": .array(naps.map { .object($0.figure) })]
    }
}
