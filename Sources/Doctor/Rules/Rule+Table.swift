/// What `healthbus doctor` looks at, and the problem that it may find there.
package struct Rule: Sendable {
    /// What rules about the whole stack look at. Of `stopped`, `silent` and the next three only what applies is asked;
    /// `surroundings` always, and `load`, which may explain a problem, only if there is one.
    enum Part { case configuration, disk, stopped, silent, processes, stores, together, surroundings, load }

    enum Look: Sendable {
        case stack(Part, @Sendable (Diagnosis) -> [Finding])
        /// An instance that isn't heard from, by name.
        case absent(@Sendable (Diagnosis, String) -> Finding)
        case heard(@Sendable (HeardInstance) -> [Finding])
    }

    package let name: String
    let look: Look

    private init(_ name: String, _ look: Look) { (self.name, self.look) = (name, look) }

    private init(_ name: String, _ part: Part, _ find: @escaping @Sendable (Diagnosis) -> Finding?) {
        self.init(name, .stack(part) { find($0).list })
    }

    private init(_ name: String, _ part: Part, each find: @escaping @Sendable (Diagnosis) -> [Finding]) {
        self.init(name, .stack(part, find))
    }

    private init(_ name: String, _ find: @escaping @Sendable (HeardInstance) -> Finding?) {
        self.init(name, .heard { find($0).list })
    }

    private init(_ name: String, each find: @escaping @Sendable (HeardInstance) -> [Finding]) {
        self.init(name, .heard(find))
    }

    /// Every rule, in the order in which what it finds is printed among findings of the same severity. Those about an
    /// instance are asked instance by instance.
    package static let all: [Rule] = [
        // The configuration on disk; the disk itself, as what follows from a full one is printed below it.
        Rule("mistake", .configuration, each: \.seen.mistakes), Rule("disk-space", .disk, \.diskSpace),
        Rule("write-ahead-log", .disk, each: \.writeAheadLogs),
        // Whether anything runs and is heard, and the files of what doesn't run.
        Rule("not-a-folder", .stopped, \.notAFolder), Rule("nothing-runs", .stopped, \.nothingRuns),
        Rule("silence", .silent, \.silence), Rule("supervisor", .processes, \.supervisor),
        Rule("left-over", .processes, each: \.leftOver), Rule("store", .stores, each: \.seen.stores),
        // An instance's process.
        Rule("absent", .absent { $0.absent($1) }), Rule("not-ready", \.notReady), Rule("restarts", \.restarts),
        Rule("run-by-hand", \.runByHand), Rule("other-configuration", \.otherConfiguration),
        // Its progress: at most one of these finds something.
        Rule("busy", \.busy), Rule("blocked", \.blocked), Rule("implausible-days", \.implausibleDays),
        Rule("stuck", \.stuck), Rule("backlog", \.shrinking),
        // Whether what it delivers stays where it was delivered, and arrives.
        Rule("changed-files", \.changedFiles), Rule("unchecked", \.unchecked), Rule("lost-elements", \.lostElements),
        Rule("trusted", \.trusted), Rule("unprovable", \.unprovable), Rule("elements-beyond", \.elementsBeyond),
        Rule("replaced-elements", \.replacedElements), Rule("old-proof", \.oldProof), Rule("paused", \.paused),
        Rule("no-path", \.noPath), Rule("dead-letters", \.deadLetters),
        Rule("conflicting-elements", \.conflictingElements),
        // Its days and figures.
        Rule("failed-days", \.failedDays), Rule("figure-collision", each: \.figureCollisions),
        Rule("open-days", \.openDays),
        // What it takes in: from the bus, from others, from files.
        Rule("malformed-messages", \.malformedMessages), Rule("foreign-messages", \.foreignMessages),
        Rule("refused-request", each: \.refusedRequests), Rule("following", \.following), Rule("inbox", \.inbox),
        Rule("refused-in-background", each: \.refusedInBackground), Rule("doubles", \.doubles),
        // All instances together: the device, who is let in, what was set aside, what was raised.
        Rule("device", .together, \.device), Rule("door", .together, each: \.seen.doors),
        Rule("refused-device", .together, each: \.seen.refusedDevices),
        Rule("former-zone", .together, each: \.formerZones), Rule("failed-import", .together, each: \.failedImports),
        Rule("conflicting-input", .together, \.conflictingInput), Rule("quarantine", .together, \.quarantine),
        Rule("alert", .together, each: \.alerts),
        // What is around the stack.
        Rule("folder", .surroundings, each: \.folders), Rule("clock-behind", .surroundings, \.clockBehind),
        Rule("clock-set-back", .surroundings, \.clockSetBack), Rule("load", .load, \.load),
        Rule("battery", .load, \.battery),
    ]
}
