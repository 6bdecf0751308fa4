import HealthModel
import SQLite

// Earlier releases didn't recognize renamed sources and condensed samples. This finds what they stored twice and, if
// wanted, lets it count once, as an import does now.
extension HealthStoreWriter {
    /// Performs one step of searching for doubles or of repairing them; each step is a transaction of its own.
    /// - Parameters:
    ///   - dates: when imports from before this was recorded took place, by their ids: their exports are about as old.
    ///   - limit: how many rows to examine in this step.
    package func settleDoubles(
        _ progress: inout DoublesProgress, dates: [String: Instant], limit: Int = 50_000
    ) throws -> DoublesCounts {
        guard let user = try users.existing(self.user) else {
            progress.phase = .done
            return progress.counts
        }
        let search = DoublesSearch(writer: self, user: user)
        switch progress.phase {
        case .done: break
        case .names(let place):
            var sightings = try Sightings(brought, user: user)
            let next = try search.forEachDay(from: place, limit: limit) { type, _, rows in
                try search.survey(rows, type, &sightings, &progress.survey)
            }
            progress.phase = next.map { .names($0) } ?? .linking
        case .linking: try search.link(&progress, dates: dates)
        case .rewriting(var names):
            repairing = progress.isTrial ? nil : progress.id
            defer { repairing = nil }
            _ = try settleNames(of: nil, &names, limit: limit)
            progress.phase = names.isDone ? .forms(.init()) : .rewriting(names)
        case .forms(let place):
            var found: [UnsettledTimes.Stretch] = []
            let next = try search.forEachDay(from: place, limit: limit) { type, day, rows in
                guard CondensedForms.Style(HealthType.named(try types.name(type))) != nil,
                    CondensedForms.mayCondense(rows.map(\.form))
                else { return }
                found.append(.init(type: type, span: day...(day + 86_399)))
            }
            if progress.isTrial {
                for stretch in found { try search.count(stretch, &progress) }
            } else {
                try change { user in try unsettled.note(found, user: user) }
            }
            progress.phase = next.map { .forms($0) } ?? (progress.isTrial ? .done : .settling)
        case .settling:
            repairing = progress.id
            defer { repairing = nil }
            let step = try settleForms()
            progress.counts.replaced.merge(step.counts.replaced, uniquingKeysWith: +)
            guard step.isDone else { break }
            try settleWorkouts()
            progress.phase = .done
        }
        return progress.counts
    }

    // What a repair records.
    static let links = "links"
    static let merged = "merged"
    static let replaced = "replaced"

    /// Records that the current repair has changed a row.
    func noteRepaired(_ born: SequenceNumber, as way: String, user: Int) throws {
        guard let repairing else { return }
        try brought.add(born.value, of: brought.number(.repair(id: repairing, way: way), user: user))
    }

    /// Whether a user's last repair can be undone.
    package func lastRepair() throws -> String? {
        forgetWhatWasUndone()
        guard let user = try users.existing(self.user) else { return nil }
        return try brought.repairs(of: user).last?.id
    }

    /// Performs one step of taking a repair back: what was stored twice is stored twice again.
    package func undoRepair(_ undo: inout RepairUndo, limit: Int = 50_000) throws {
        switch undo.phase {
        case .done: break
        case .naming(var progress):
            _ = try settleNames(of: nil, &progress, limit: limit)
            undo.phase = progress.isDone ? .done : .naming(progress)
        case .restoring(let after, let through):
            var (counts, phase) = (undo.counts, undo.phase)
            try change(settle: false) { user in
                let repairs = try brought.repairs(of: user).filter { $0.id == undo.id }
                if after == .beginning {
                    let numbers = repairs.map(\.number)
                    counts.renamed = try names.known(of: user).links.filter { numbers.contains($0.bringer) }
                        .map { .init(from: $0.other, to: $0.name, samples: 0) }
                    try names.forget(numbers, user: user)
                }
                let end = through ?? sequence
                let (reached, isWhole) = try DoublesSearch(writer: self, user: user).restore(
                    repairs, &counts, after: after, through: end, limit: limit)
                phase = .restoring(after: reached, through: end)
                guard isWhole else { return }
                for repair in repairs { try brought.drop(repair.number) }
                try heads.finish(user: user)
                phase = .naming(NameProgress())
            }
            (undo.counts, undo.phase) = (counts, phase)
        }
    }
}
