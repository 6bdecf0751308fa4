import HealthModel
import Simulation
import Terminal

/// What `healthbus simulate` prints.
struct SimulationReport {
    let seed: UInt64
    let days: Int
    let results: [StrategyResult]

    var wireValue: Value {
        [
            "seed": .integer(Int64(clamping: seed)), "days": .integer(Int64(days)),
            "strategies": .array(results.map(\.wireValue)),
        ]
    }

    func table(for terminal: Terminal) -> String {
        var table = Table([
            .init("strategy"), .number("samples", givesWay: 3), .number("median"), .number("95 %"), .number("worst"),
            .number("wakes/day"), .number("run s/day"), .number("lost"), .number("doubled"),
            .init("on data", givesWay: 6), .init("terminated", givesWay: 5), .init("force-quit", givesWay: 4),
            .init("locked", givesWay: 4), .init("backend", givesWay: 2), .number("max run s", givesWay: 1),
        ])
        func duration(_ seconds: Double?) -> String {
            seconds.map { HumanFormat.duration(.seconds($0)) } ?? "–"
        }
        func yes(_ flag: Bool) -> String { flag ? "yes" : "no" }
        for result in results {
            table.add([
                result.strategy.rawValue, HumanFormat.count(result.samples), duration(result.median),
                duration(result.p95), duration(result.max), "\(result.wakesPerDay)",
                result.runSecondsPerDay.map { "\($0)" } ?? "–",
                HumanFormat.count(result.lost), HumanFormat.count(result.doubled),
                yes(result.matrix.triggersOnData), yes(result.matrix.whenTerminated),
                yes(result.matrix.afterForceQuit), yes(result.matrix.whenLocked), yes(result.matrix.needsBackend),
                "\(Int(result.matrix.maxRunSeconds))",
            ])
        }
        return table.render(for: terminal)
    }
}
