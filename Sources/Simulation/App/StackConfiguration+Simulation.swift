import Configuration
import HealthModel

extension StackConfiguration {
    /// Handlers that the delivery of samples depends on: workouts are delivered by their handler, and the task
    /// `daily-energy` waits for the energy handler.
    private static let handlersOfSamples: Set<String> = ["energy", "workouts"]

    /// The stack as it would run in an app with this strategy: with the strategy's debouncer options, and with
    /// refreshes as often as the strategy asks for them.
    func applying(_ strategy: DeliveryStrategy, _ model: PhoneModel) -> StackConfiguration {
        var options = strategy.debouncerOptions
        options["refreshMinutes"] = .number(strategy.wakes.contains(.refresh) ? model[.refreshEarliestMinutes] : 0)
        options["catchUpHours"] = .number(max(1, model[.processingEarliestHours]))
        return with(
            instances: instances.map { instance in
                switch instance.manifest.kind {
                case .debouncer: instance.with(options)
                case .consolidator: instance.with(["launch": "device"])
                default: instance
                }
            })
    }

    /// The stack without handlers that only compute figures: no sample arrives earlier or later without them. A stack
    /// whose options name any of them keeps them all, as does one whose uploader delivers only some types.
    var withoutFigures: StackConfiguration {
        let spare = handlers.filter { !Self.handlersOfSamples.contains($0.manifest.name) }
        let names = Set(spare.map(\.name))
        let isNamed = instances.contains { instance in
            let options = instance.configuration
            let byMetric = ["windows", "maximumWaits", "frequencies"].contains { option in
                options[option].object?.keys.contains(where: names.contains) ?? false
            }
            return byMetric || (instance.manifest.kind == .uploader && !(options["types"].array ?? []).isEmpty)
        }
        return isNamed ? self : with(instances: instances.filter { !names.contains($0.name) })
    }
}

extension StackConfiguration.Instance {
    /// The instance with some options changed.
    fileprivate func with(_ options: [String: Value]) -> Self {
        var copy = self
        copy.configuration = .object((configuration.object ?? [:]).merging(options) { _, new in new })
        return copy
    }
}
