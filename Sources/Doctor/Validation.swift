import Configuration
import Foundation
import Inspection
import Logging
import StageKit

/// `healthbus validate`: everything that can be checked in a stack before it starts.
package struct Validation {
    package let findings: Findings
    /// Whether `up` would refuse to start.
    package let isStartRefused: Bool

    /// The exit code of `validate`, so that a script needs to know nothing else: `usage` when `up` would refuse to
    /// start, `failed` when it would start, but something wouldn't work, otherwise `done`. Warnings don't count.
    package var exitCode: ExitCode { isStartRefused ? .usage : findings.worst == .error ? .failed : .done }

    /// All errors, for `up`, which so counts the same as `validate`; nil if there is at most one.
    package var refusal: Failure? {
        let errors = findings.list.filter { $0.severity == .error }
        guard errors.count > 1 else { return nil }
        return Failure.usage(
            "there are \(errors.count) errors" + errors.map { "\n  \($0.sentence)" }.joined(),
            hint: "correct them; 'healthbus validate' says how")
    }

    /// Throws nothing: anything unreadable is reported as a finding.
    package init(
        state: String?, configurationFile: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        let state = state.map { StateFolder(path: $0) } ?? .standard(environment: environment)
        do {
            let catalog = try PluginCatalog.standard(environment: environment)
            let reader = try StackConfigurationReader(path: configurationFile, state: state, catalog: catalog)
            let places = try JSONPlaces.of(configurationFile)
            // What couldn't be read may only seem to be missing.
            let structure = reader.problems.isEmpty ? StackStructure(stack: reader.stack).findings(places) : []
            let around = Surroundings(state: state, stack: reader.stack, catalog: catalog, environment: environment)
            let required = around.required.map { $0.placed(places, in: reader.stack.file) }
            let others = around.others.map { $0.placed(places, in: reader.stack.file) }
            let known = reader.problems.map { Finding($0) } + structure + required + others
            // A configuration that can't be read at all is refused by every program, and is reported above.
            let starts =
                reader.problems.isEmpty
                ? StartChecks(
                    state: state, stack: reader.stack, catalog: catalog, configurationFile: configurationFile
                ).findings().map { $0.placed(places, in: reader.stack.file) } : []
            let new = starts.filter { start in !known.contains { $0.severity == .error && $0.covers(start) } }
            let keys = keys(reader.stack, state)
            findings = Findings(known + keys + new)
            // A program that couldn't start counts even if the reason has already been reported.
            isStartRefused =
                !reader.problems.isEmpty || (structure + required + keys + starts).contains { $0.severity == .error }
                || others.contains { $0.keepsFromStarting }
        } catch {
            let error =
                error as? ConfigurationError ?? ConfigurationError(file: state.path, key: "", reason: "\(error)")
            findings = Findings([Finding(error)])
            isStartRefused = true
        }
    }
}

extension StackStructure {
    /// The findings, with the lines of their keys.
    func findings(_ places: JSONPlaces) -> [Finding] { findings.map { $0.placed(places, in: stack.file) } }
}

extension Stack {
    /// Refuses to start a stack whose structure is wrong, by the same rules as `validate`.
    /// - Throws: `Failure` (usage).
    package func requireSoundStructure() throws {
        let wrong = StackStructure(stack: configuration).findings(try JSONPlaces.of(configurationFile)).filter {
            $0.severity == .error
        }
        guard let first = wrong.first else { return }
        let more = wrong.count > 1 ? "; 'healthbus validate' shows \(wrong.count - 1) more" : ""
        throw Failure("\(first.place) \(first.what)", hint: first.remedy + more, code: .usage)
    }
}

extension JSONPlaces {
    /// The places of the keys in this file; empty if there is no file.
    static func of(_ file: String?) throws -> JSONPlaces {
        guard let file, let data = FileManager.default.contents(atPath: file) else { return JSONPlaces() }
        return JSONPlaces(data)
    }
}

/// The keys that a sealed stack lacks.
private func keys(_ stack: StackConfiguration, _ state: StateFolder) -> [Finding] {
    do {
        try stack.requireKeys(in: state)
        return []
    } catch {
        let failure = Failure(of: error)
        return [Finding(.error, "the bus", failure.message, remedy: failure.hint ?? "make the keys")]
    }
}

extension StackConfiguration {
    /// Refuses to start a sealed stack unless every instance has its key. This is checked before anything in the stack
    /// starts.
    package func requireKeys(in state: StateFolder) throws {
        guard bus.isSealed else { return }
        _ = try hubSeal(in: state)
        let keys = keyFolder(state)
        for instance in instances where instance.manifest.kind != .hub {
            _ = try keys.credentials(of: instance.name, environment: [:])
        }
    }
}

extension Finding {
    /// Whether this finding already covers what a program reported about itself.
    fileprivate func covers(_ start: Finding) -> Bool {
        what == start.what || (key != nil && subject == start.subject && key == start.key)
            || start.what.contains(what)
    }

    /// The same finding with the line of its key, if it concerns that file.
    func placed(_ places: JSONPlaces, in file: String) -> Finding {
        guard line == nil, subject == file, let key else { return self }
        var placed = self
        placed.line = places.line(of: key)
        return placed
    }
}
