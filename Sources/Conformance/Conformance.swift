import Clocks
import Configuration
import HealthModel
import Logging

/// Tests whether a plugin honors the contract: a handler in any language is tested line by line, then every plugin in a
/// stack of its own.
package struct Conformance {
    package let manifest: Manifest
    package let catalog: PluginCatalog

    package init(_ manifest: Manifest, catalog: PluginCatalog) { (self.manifest, self.catalog) = (manifest, catalog) }

    /// The cases that apply to this plugin.
    package var cases: [ConformanceCase] {
        ConformanceCase.allCases.filter { asked in
            switch asked.group {
            case .lines: manifest.exec != nil
            case .process: true
            // The figure cases use samples like those of exports, which have no positions.
            case .figures: manifest.kind == .handler && manifest.types != [HealthType.locationIdentifier]
            }
        }
    }

    /// Runs on the caller's thread, which must live until the end.
    /// - Parameters:
    ///   - group: the group whose cases are run; nil for all.
    ///   - only: the only case to run; nil for all cases.
    ///   - say: called with each result as it arrives.
    package func run(
        _ group: ConformanceCase.Group? = nil, only: ConformanceCase? = nil, say: (ConformanceResult) -> Void = { _ in }
    ) -> ConformanceReport {
        var results: [ConformanceResult] = []
        var stack: StackCases?
        var isBroken = false
        for asked in cases where only ?? asked == asked && group ?? asked.group == asked.group {
            let begin = MonotonicClock.now
            var outcome = ConformanceResult.Outcome.passed
            if isBroken, let why = reason(asked, results) {
                outcome = .skipped(why)
            } else {
                do {
                    if asked.group == .lines, let command = manifest.exec {
                        try LineCases(manifest, command).run(asked)
                    } else {
                        let cases = try stack ?? StackCases(manifest, catalog: catalog)
                        stack = cases
                        try cases.run(asked)
                    }
                } catch let fault as ConformanceFault {
                    outcome = .failed(fault)
                } catch let failure as Failure {
                    outcome = .failed(ConformanceFault(failure.message, hint: failure.hint ?? ""))
                } catch { outcome = .failed(ConformanceFault("\(error)", hint: "see docs/plugins.md")) }
            }
            let result = ConformanceResult(
                name: asked.rawValue, about: asked.about, outcome: outcome,
                seconds: (MonotonicClock.now - begin).seconds)
            if case .failed = outcome { isBroken = true }
            results.append(result)
            say(result)
        }
        return ConformanceReport(plugin: manifest.name, file: manifest.file, results: results)
    }

    /// Why a case would be meaningless after earlier failures; nil if it wouldn't be.
    private func reason(_ asked: ConformanceCase, _ results: [ConformanceResult]) -> String? {
        func failed(_ names: ConformanceCase...) -> ConformanceCase? {
            names.first { name in
                results.contains { if case .failed = $0.outcome { $0.name == name.rawValue } else { false } }
            }
        }
        let lines = ConformanceCase.allCases.filter { $0.group == .lines }
        switch asked.group {
        case .lines: return failed(.hello).map { "'\($0.rawValue)' failed" }
        case .process, .figures:
            if lines.contains(where: { failed($0) != nil }) { return "the line cases must pass first" }
            if asked != .ready, let name = failed(.ready) { return "'\(name.rawValue)' failed" }
            guard asked.group == .figures, asked != .figures else { return nil }
            return failed(.figures).map { "'\($0.rawValue)' failed" }
        }
    }
}
