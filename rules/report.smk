rule write_report:
    input:
        **dict(rules.aggregate.output.items()),
        **dict(rules.statistics.output.items()),
        plan=rules.plan.output.record,
        idle=results.idle,
        records=results.listed_records,
        stopping=results.stopping_record,
        models=models.trained,
        exports=models.checks,
        parity=models.comparisons,
        environments=environments.records,
        tables=rules.tables.output,
        replication=papers.replication,
        functions=profiles.named_functions,
        profiles=profiles.own_outputs,
        profiled=profiles.runs,
        operators=profiles.operator_outputs,
        published=papers.printed,
        authors=papers.authors_results,
        figures=results.figures,
        template=multiext(
            "src/framewatt/report/",
            "template.html.j2",
            "macros.html.j2",
            "style.css.j2",
            "page.js.j2",
        ),
        caption="docs/captions/report.rst",
        image=environments.orchestrator_image,
    output:
        page=report(
            "results/{study}/report/report.html",
            caption="../docs/captions/report.rst",
            category="Report",
            labels={"study": "{study}"},
        ),
    log:
        "logs/{study}/report.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        paper=results.settings("replicates"),
        profiled=profiles.own_tables,
    message:
        "writing the report"
    script:
        "../scripts/report.py"


rule complete:
    input:
        report=rules.write_report.output.page,
        plan=rules.plan.output.record,
        idle=results.idle,
        records=results.listed_records,
        stopping=results.stopping_record,
        profiled=profiles.runs,
        about=profiles.timeline_summary,
        repeated=profiles.repeated_frame,
        environments=environments.records,
        image=environments.orchestrator_image,
    output:
        done="results/{study}/report/complete.txt",
    log:
        "logs/{study}/complete.log",
    conda:
        "../envs/orchestrator/environment.yaml"
    params:
        mode=environments.mode,
        host=call_due.host,
    message:
        "looking for what is missing"
    script:
        "../scripts/complete.py"


rule report:
    input:
        expand(
            [rules.write_report.output.page, rules.complete.output.done],
            study=setup.study.name,
        ),
