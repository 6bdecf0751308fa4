import Changelog
import HealthImport
import HealthModel
import HealthPush
import HealthStatistics
import HealthStore
import StageKit

extension ObserverStage {
    func take(_ event: ImportEvent, of attempt: ImportAttempt, _ turn: Turn) throws {
        guard var entry = try imports.entry(attempt.id, turn) else { return }
        switch event {
        case .found(let event): try take(event, of: attempt, &entry, turn)
        case .finished(let summary): try finish(summary, attempt, &entry, turn)
        case .unreadable(let reason):
            entry.problem = reason
            try close(&entry, .failed, turn)
        }
    }

    private func take(
        _ event: ExportEvent, of attempt: ImportAttempt, _ entry: inout ImportLedger.Entry, _ turn: Turn
    ) throws {
        let event = try withEnds(event, attempt, entry, turn)
        if entry.plan?.isTryingOut == true, try tryOut(event, attempt, entry, turn) { return }
        let writer = try writer(for: entry.user, turn)
        switch event {
        case .info(let info): try learn(info, attempt, &entry, turn)
        case .records(let batch):
            _ = try turn.write()
            let counts = try writer.ingest(
                batch, session: attempt.session, plausibility: Self.plausibility(at: turn.now))
            attempt.counts += counts
            try zones.observe(batch, user: entry.user, turn)
            quarantined += Int64(counts.total.newlyQuarantined)
            let changed = counts.byType.filter { $0.value.added + $0.value.joined + $0.value.revived > 0 }
            guard !changed.isEmpty else { return }
            changedTypes.formUnion(changed.keys)
            for (type, tally) in changed where tally.added + tally.revived > 0 {
                entry.added[type, default: 0] += Int64(tally.added + tally.revived)
            }
            try imports.save(entry, turn)
        case .known(let pieces):
            _ = try turn.write()
            guard let counts = try writer.claim(pieces, session: attempt.session) else { return readAll(of: entry) }
            attempt.counts += counts
        case .quarantined(let inputs):
            _ = try turn.write()
            quarantined += Int64(try writer.quarantine(inputs, session: attempt.session))
            attempt.count(inputs, dropped: try writer.areDropped(inputs))
        case .summaries(let rows):
            _ = try turn.write()
            try writer.upsertActivitySummaries(rows, exported: attempt.export?.date)
        case .route(let route):
            _ = try turn.write()
            try take(route, of: attempt, writer)
        case .routeEnded(let piece, let path, let points):
            _ = try turn.write()
            try writer.endRoute(piece, path: path, points: points, exported: attempt.session.exported)
        case .knownRoute(let piece, let path):
            _ = try turn.write()
            guard try writer.seeRoute(piece, path: path, exported: attempt.session.exported) else {
                return readAll(of: entry)
            }
        case .document(let part):
            _ = try turn.write()
            try writer.keep(part)
        case .progress(let read, let total):
            attempt.bytesRead = read
            attempt.bytesTotal = total
        }
    }

    private func withEnds(
        _ event: ExportEvent, _ attempt: ImportAttempt, _ entry: ImportLedger.Entry, _ turn: Turn
    ) throws -> ExportEvent {
        guard let way = WayIn.named(attempt.export?.way), case .records(var batch) = event else {
            return event
        }
        try complete(&batch, by: way, of: entry.user, turn)
        return .records(batch)
    }

    /// Tries a piece out without writing anything; returns false for events that aren't about the file's content.
    private func tryOut(
        _ event: ExportEvent, _ attempt: ImportAttempt, _ entry: ImportLedger.Entry, _ turn: Turn
    ) throws -> Bool {
        let writer = try writer(for: entry.user, turn)
        switch event {
        case .records(let batch):
            attempt.counts += try writer.tryOut(
                batch, session: attempt.session, plausibility: Self.plausibility(at: turn.now))
        case .quarantined(let inputs): attempt.count(inputs, dropped: try writer.areDropped(inputs))
        case .summaries, .route, .routeEnded, .knownRoute, .document: break
        default: return false
        }
        return true
    }

    /// Now the whole file must be read, known pieces included, so this attempt can't continue.
    private func readAll(of entry: ImportLedger.Entry) {
        readsAll.insert(entry.id)
        attempt = nil
    }

    /// Stores a piece of a route; with the last one the route is merged into its workout. The route of a newer export
    /// stays as it is.
    private func take(_ route: WorkoutRoute, of attempt: ImportAttempt, _ writer: HealthStoreWriter) throws {
        guard try writer.attachRoute(route, exported: attempt.session.exported) else { return }
        if route.firstPoint == 0 { attempt.routeSummary = RouteSummary() }
        attempt.routeSummary.add(route)
        guard route.isLast, let workout = route.workout else { return }
        let isChanged = try writer.describeRoute(
            path: route.path, workoutFrom: workout.start, to: workout.end, sourceName: workout.sourceName,
            summary: attempt.routeSummary.value)
        if isChanged { changedTypes.insert(HealthType.workoutIdentifier) }
    }

    func close(_ entry: inout ImportLedger.Entry, _ state: ImportLedger.State, _ turn: Turn) throws {
        entry.state = state
        try imports.save(entry, turn)
        // If another file of the same person is being read, the first read isn't over.
        let other = try attempt.flatMap { $0.id == entry.id ? nil : try imports.entry($0.id, turn) }
        if other?.user != entry.user { try imports.endFirst(entry, turn) }
        attempt = nil
        turn.log(.importEnded, ["id": entry.id, "state": state.rawValue])
        turn.perform(ObserverEffect.discard(.file(id: entry.id)))
    }

    /// The limits beyond which a sample is quarantined.
    static func plausibility(at now: Instant) -> PlausibilityRule {
        { type in
            let limit = PlausibilityLimit.of(HealthType.named(type))
            return { value, start, end in limit.reason(value: value, start: start, end: end, now: now) }
        }
    }
}

extension RouteSummary {
    fileprivate mutating func add(_ route: WorkoutRoute) {
        for point in route.time.indices {
            add(
                time: route.time[point], latitude: route.latitude[point], longitude: route.longitude[point],
                elevation: route.elevation[point], horizontalAccuracy: route.horizontalAccuracy[point],
                verticalAccuracy: route.verticalAccuracy[point])
        }
    }
}
